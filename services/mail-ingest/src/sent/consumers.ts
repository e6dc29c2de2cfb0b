import { type EventOf, topics } from '@restante/contracts/events'
import { Consumer, decodeEvent, type Kafka, type Outbox, type RecordedEvent } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { lockMailboxes } from '../mailbox/lock.ts'
import { applyDeliveryEvents } from './apply-delivery-events.ts'
import type { SentPlacement } from './placement.ts'

export interface DeliveriesConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly outbox: Outbox
  readonly placement: SentPlacement
}

const topic = topics['mail.deliveries']

/** Most events in one transaction, during which their mailboxes are locked. */
const TOGETHER = 50
/** Of larger mails a batch would hold too much text at once, and the locks for too long. */
const SMALL_BYTES = 256 * 1024

/**
 * Turns events of mail-send about sent mail into copies, labels and public events. Most messages raise several events
 * within a moment, which share a transaction.
 */
export function deliveriesConsumer({ kafka, db, outbox, placement }: DeliveriesConsumerOptions) {
  const copyOf = async (event: EventOf<typeof topic>) =>
    event.type === 'message.accepted' ? placement.prepare(event.payload) : undefined
  const prepareMany = async (recorded: readonly RecordedEvent[]) => {
    const events = new Map(recorded.map((one) => [one.id, decodeEvent(topic, one)]))
    // One after the other, and before their events: these then find that their copies are there.
    for (const event of events.values()) {
      if (event.type === 'message.accepted' && event.payload.blob.size > SMALL_BYTES) {
        await placement.place(event.payload)
      }
    }
    const copies = new Map(
      await Promise.all([...events].map(async ([id, event]) => [id, await copyOf(event)] as const)),
    )
    return async (tx: Tx, fresh: readonly RecordedEvent[]) => {
      const known = fresh.flatMap(({ id }) => events.get(id) ?? [])
      // All of them first, in one order: two transactions must not wait for each other.
      await lockMailboxes(
        tx,
        known.map(({ payload }) => payload.inbox_uid),
      )
      await placement.store(
        tx,
        fresh.flatMap(({ id }) => copies.get(id) ?? []),
      )
      await applyDeliveryEvents(
        tx,
        outbox,
        known.filter((event) => event.type !== 'message.accepted'),
      )
    }
  }
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic,
    batch: { prepareMany, batchSize: TOGETHER },
  })
}
