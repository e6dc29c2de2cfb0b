import { randomUUID } from 'node:crypto'
import { type MessageFacts, type PublicEvent, topics } from '@restante/contracts'
import type { Outbox } from '@restante/messaging'
import { bareAddress } from '@restante/mime'
import { type Queryable, sql, type Tx } from '@restante/service'
import { changedLabels, logLabels } from '../mailbox/label-log.ts'
import { type DeletedInbox, deletedInbox, lockMailbox } from '../mailbox/lock.ts'
import type { MessageRow } from '../mailbox/rows.ts'
import { store } from '../mailbox/store.ts'
import {
  type DeliveryFact,
  labelChangeOf,
  publicEventOf,
  sentEvent,
  settles,
  tellsHandOver,
} from './delivery-events.ts'
import { pendingFacts, tombstones } from './store.ts'

// Independent of the order: the first hand-over, the newest end, the newest delay. Null changes none of them.
const PROGRESS = sql<
  never,
  [id: string, handedOverAt: string | null, settledAt: string | null, delayedAt: string | null]
>(`
update messages
   set handed_over_at = least(handed_over_at, $2::timestamptz),
       settled_at = greatest(settled_at, $3::timestamptz),
       delayed_at = greatest(delayed_at, $4::timestamptz)
 where id = $1`)

/**
 * Turns a delivery event of a sent message into labels and public events, in one transaction with its mark. An event
 * that arrives before the copy waits for it; one about a deleted message changes and publishes nothing; after a whole
 * inbox was deleted, events still reach subscribers of its pod and organization (events 1.2 rule 12).
 */
export async function applyFact(tx: Tx, outbox: Outbox, fact: DeliveryFact): Promise<void> {
  const { inbox_uid, message_id } = fact.payload
  await lockMailbox(tx, inbox_uid)
  const message = await store.message(tx, inbox_uid, message_id)
  if (message) return applyTo(tx, outbox, message, fact)
  if (await tombstones.has(tx, inbox_uid, message_id)) return
  const deleted = await deletedInbox(tx, inbox_uid)
  if (deleted) return fireForDeletedInbox(tx, outbox, deleted, fact)
  await pendingFacts.keep(tx, fact)
}

async function applyTo(tx: Tx, outbox: Outbox, message: MessageRow, fact: DeliveryFact): Promise<void> {
  const now = new Date()
  const { labels, change } = changedLabels(message.labels, labelChangeOf(fact, message))
  const hasLeft = message.handed_over_at === null && tellsHandOver(fact)
  await progress(tx, message.id, fact)
  if (change.added.length + change.removed.length > 0) await store.setLabels(tx, message, labels, now)

  const changed = { ...message, labels }
  const named = { ...message, inbox_id: message.inbox_address }
  const events: PublicEvent[] = []
  if (hasLeft) events.push(sentEvent(sentEventId(fact), named, fact.payload.timestamp, sentTo(message, fact)))
  const event = publicEventOf(fact, named)
  if (event) events.push(event)
  await publish(tx, outbox, events, changed, now)
  await logLabels(tx, outbox, { message: changed, change, at: now })
}

async function progress(tx: Queryable, id: string, fact: DeliveryFact): Promise<void> {
  const { timestamp } = fact.payload
  const at = (tells: boolean) => (tells ? timestamp : null)
  await tx.query(PROGRESS, id, at(tellsHandOver(fact)), at(settles(fact)), at(fact.type === 'delivery.delayed'))
}

/** The event of the hand-over provides its id; where the hand-over is only implied, the event gets one of its own. */
function sentEventId(fact: DeliveryFact): string {
  return fact.type === 'delivery.handed_over' ? fact.id : randomUUID()
}

function sentTo(message: MessageRow, fact: DeliveryFact): string[] {
  if (fact.type === 'delivery.handed_over') return fact.payload.recipients
  return [...message.to, ...message.cc, ...message.bcc].map(bareAddress)
}

async function fireForDeletedInbox(tx: Tx, outbox: Outbox, inbox: DeletedInbox, fact: DeliveryFact): Promise<void> {
  if (inbox.inbox_address === null) return
  const { message_id, thread_id, timestamp } = fact.payload
  const named = { inbox_id: inbox.inbox_address, thread_id, message_id }
  const event =
    fact.type === 'delivery.handed_over'
      ? sentEvent(fact.id, named, timestamp, fact.payload.recipients)
      : publicEventOf(fact, named)
  if (!event) return
  const { organization_id, pod_id, inbox_uid } = inbox
  const about = { organization_id, pod_id, inbox_uid, message_id, labels: [], inbox_deleted: true }
  await publish(tx, outbox, [event], about, new Date())
}

/** Publishes events about a message, each of which is its own document. */
async function publish(
  tx: Tx,
  outbox: Outbox,
  documents: readonly PublicEvent[],
  about: MessageFacts,
  time: Date,
): Promise<void> {
  const topic = topics['mail.messages']
  const events = documents.map((document) =>
    topic.event(document.event_type, document, { id: document.event_id, time, about }),
  )
  await outbox.addAll(tx, topic, events)
}
