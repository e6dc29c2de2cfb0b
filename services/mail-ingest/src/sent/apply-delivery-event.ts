import { randomUUID } from 'node:crypto'
import { type MessageFacts, topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import { bareAddress } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service/database'
import { findTombstone, type Tombstone } from '@restante/tenancy'
import { changedLabels, logLabels } from '../mailbox/label-log.ts'
import { lockMailbox } from '../mailbox/lock.ts'
import type { MessageRow } from '../mailbox/rows.ts'
import { store } from '../mailbox/store.ts'
import {
  type DeliveryEvent,
  endsDelivery,
  impliesHandOver,
  labelChangeOf,
  type MailEvent,
  publicEventOf,
  sentEvent,
} from './delivery-events.ts'
import { pendingDeliveryEvents, tombstones } from './store.ts'

// The order of the events does not matter: the first hand-over and opening, the latest end and delay are kept. A null
// changes nothing.
const PROGRESS = sql<
  never,
  [id: string, handedOverAt: string | null, settledAt: string | null, delayedAt: string | null, openedAt: string | null]
>(`
update messages
   set handed_over_at = least(handed_over_at, $2::timestamptz),
       settled_at = greatest(settled_at, $3::timestamptz),
       delayed_at = greatest(delayed_at, $4::timestamptz),
       opened_at = least(opened_at, $5::timestamptz)
 where id = $1`)

/**
 * Turns a delivery event of a sent message into labels and public events, in one transaction with its mark. An event
 * that arrives before the copy waits for it; one about a deleted message changes and publishes nothing; after a whole
 * inbox was deleted, events still reach subscribers of its pod and organization (events 1.2 rule 12).
 */
export async function applyDeliveryEvent(tx: Tx, outbox: Outbox, event: DeliveryEvent): Promise<void> {
  const { inbox_uid, message_id } = event.payload
  const [, message] = await Promise.all([lockMailbox(tx, inbox_uid), store.message(tx, inbox_uid, message_id)])
  if (message) return applyTo(tx, outbox, message, event)
  if (await tombstones.has(tx, inbox_uid, message_id)) return
  const deleted = await findTombstone(tx, inbox_uid)
  if (deleted) return fireForDeletedInbox(tx, outbox, deleted, event)
  await pendingDeliveryEvents.keep(tx, event)
}

async function applyTo(tx: Tx, outbox: Outbox, message: MessageRow, event: DeliveryEvent): Promise<void> {
  const now = new Date()
  const { labels, change } = changedLabels(message.labels, labelChangeOf(event, message))
  const hasLeft = message.handed_over_at === null && impliesHandOver(event)
  const changed = { ...message, labels }
  const named = { ...message, inbox_id: message.inbox_address }
  const documents: MailEvent[] = []
  if (hasLeft) documents.push(sentEvent(sentEventId(event), named, event.payload.timestamp, sentTo(message, event)))
  const document = publicEventOf(event, named)
  if (document) documents.push(document)
  const isChanged = change.added.length + change.removed.length > 0
  await Promise.all([
    progress(tx, message.id, event),
    isChanged ? store.setLabels(tx, [changed], now) : undefined,
    publish(tx, outbox, documents, changed, now),
    isChanged ? logLabels(tx, outbox, [{ message: changed, change, at: now }]) : undefined,
  ])
}

async function progress(tx: Queryable, id: string, event: DeliveryEvent): Promise<void> {
  const { timestamp } = event.payload
  const at = (applies: boolean) => (applies ? timestamp : null)
  await tx.query(
    PROGRESS,
    id,
    at(impliesHandOver(event)),
    at(endsDelivery(event)),
    at(event.type === 'delivery.delayed'),
    at(event.type === 'delivery.opened'),
  )
}

/**
 * `message.sent` has the id of the hand-over event. Where the hand-over is only implied by another event, it gets a new
 * one.
 */
function sentEventId(event: DeliveryEvent): string {
  return event.type === 'delivery.handed_over' ? event.id : randomUUID()
}

function sentTo(message: MessageRow, event: DeliveryEvent): string[] {
  if (event.type === 'delivery.handed_over') return event.payload.recipients
  return [...message.to, ...message.cc, ...message.bcc].map(bareAddress)
}

async function fireForDeletedInbox(tx: Tx, outbox: Outbox, inbox: Tombstone, event: DeliveryEvent): Promise<void> {
  const { organization_id, pod_id, address } = inbox
  if (address === null || pod_id === null) return
  const { inbox_uid, message_id, thread_id, timestamp } = event.payload
  const named = { inbox_id: address, thread_id, message_id }
  const document =
    event.type === 'delivery.handed_over'
      ? sentEvent(event.id, named, timestamp, event.payload.recipients)
      : publicEventOf(event, named)
  if (!document) return
  const about = { organization_id, pod_id, inbox_uid, message_id, labels: [], inbox_deleted: true }
  await publish(tx, outbox, [document], about, new Date())
}

/** Publishes events about a message. Each document is the content of one event. */
async function publish(
  tx: Tx,
  outbox: Outbox,
  documents: readonly MailEvent[],
  about: MessageFacts,
  time: Date,
): Promise<void> {
  const topic = topics['mail.messages']
  const events = documents.map((document) =>
    topic.event(document.event_type, document, { id: document.event_id, time, about }),
  )
  await outbox.addAll(tx, topic, events)
}
