import { topics } from '@restante/contracts/events'
import { Consumer, decodeEvent, type Kafka, type Outbox, type RecordedEvent } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { applyDeliveryEvent } from './apply-delivery-event.ts'
import { inMailboxes } from './effects/mailbox-effects.ts'
import type { SentPlacement } from './placement.ts'

export interface DeliveriesConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly outbox: Outbox
  readonly placement: SentPlacement
}

/** Most events in one transaction, during which their mailboxes are locked. */
const TOGETHER = 50

/**
 * Turns events of mail-send about sent mail into copies, labels and public events. Most messages raise several events
 * within a moment, which share a transaction.
 */
export function deliveriesConsumer({ kafka, db, outbox, placement }: DeliveriesConsumerOptions) {
  const prepareMany = async (events: readonly RecordedEvent[]) => {
    const prepared = new Map(await Promise.all(events.map(async (one) => [one.id, await prepare(one)] as const)))
    return (tx: Tx, fresh: readonly RecordedEvent[]) =>
      inMailboxes(
        tx,
        fresh.flatMap(({ id }) => prepared.get(id) ?? []),
      )
  }
  const prepare = async (recorded: RecordedEvent) => {
    const event = decodeEvent(topics['mail.deliveries'], recorded)
    const { inbox_uid: inboxUid } = event.payload
    if (event.type !== 'message.accepted') {
      return { inboxUid, effect: (tx: Tx) => applyDeliveryEvent(tx, outbox, event) }
    }
    const effect = await placement.prepare(event.payload)
    return effect && { inboxUid, effect }
  }
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics['mail.deliveries'],
    batch: { prepareMany, batchSize: TOGETHER },
  })
}
