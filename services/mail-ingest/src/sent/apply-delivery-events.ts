import { randomUUID } from 'node:crypto'
import { type MessageFacts, topics } from '@restante/contracts/events'
import type { EncodedEvent, Outbox } from '@restante/messaging'
import { bareAddress } from '@restante/mime'
import type { Tx } from '@restante/service/database'
import { findTombstones, type Tombstone } from '@restante/tenancy'
import { noteProgress } from '../mailbox/changes.ts'
import {
  changedLabels,
  insertLabelRecords,
  type LabelRecord,
  labelEvent,
  labelRecords,
  type MailMessageEvent,
} from '../mailbox/label-log.ts'
import { lockMailboxes } from '../mailbox/lock.ts'
import type { MessageRow } from '../mailbox/rows/rows.ts'
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
import { keyOf, pendingDeliveryEvents, tombstones } from './store.ts'

/** A message with what the events of a transaction have changed of it so far. */
interface Changing {
  readonly row: MessageRow
  /** The labels that it had before all of them. */
  readonly before: readonly string[]
  /** Rows of the audit log of labels. */
  readonly records: readonly LabelRecord[]
}

/**
 * Turns delivery events of sent messages into labels and public events, in one transaction with their marks. An event
 * that arrives before the copy waits for it; one about a deleted message changes and publishes nothing; after a whole
 * inbox was deleted, events still reach subscribers of its pod and organization (events 1.2 rule 12). However many there
 * are, the statements are those of one; those about a message are applied in their order.
 */
export async function applyDeliveryEvents(tx: Tx, outbox: Outbox, events: readonly DeliveryEvent[]): Promise<void> {
  if (events.length === 0) return
  const references = [...new Map(events.map(({ payload }) => [keyOf(payload), payload])).values()]
  const [, found] = await Promise.all([
    lockMailboxes(
      tx,
      references.map(({ inbox_uid }) => inbox_uid),
    ),
    store.messagesOfInboxes(tx, references),
  ])
  const messages = new Map(
    found.map((row): [string, Changing] => [keyOf(row), { row, before: row.labels, records: [] }]),
  )
  const now = new Date()
  const published: EncodedEvent[] = []
  const without: DeliveryEvent[] = []
  for (const event of events) {
    const key = keyOf(event.payload)
    const message = messages.get(key)
    if (!message) without.push(event)
    else {
      const changing = changedBy(event, message, now)
      messages.set(key, changing.message)
      published.push(...outbox.encode(topics['mail.messages'], changing.events))
    }
  }
  const changed = [...messages.values()]
  await Promise.all([
    noteProgress(
      tx,
      changed.map(({ row, before, records }) => ({ ...row, before, isRelabelled: records.length > 0 })),
      now,
    ),
    insertLabelRecords(
      tx,
      changed.flatMap(({ records }) => records),
    ),
    outbox.record(tx, published),
  ])
  await applyWithoutMessage(tx, outbox, without)
}

/** What an event makes of its message, and the events that tell so, in their order. */
function changedBy(
  event: DeliveryEvent,
  { row, before, records }: Changing,
  now: Date,
): { readonly message: Changing; readonly events: readonly MailMessageEvent[] } {
  const { labels, change } = changedLabels(row.labels, labelChangeOf(event, row))
  const hasLeft = row.handed_over_at === null && impliesHandOver(event)
  const named = { ...row, inbox_id: row.inbox_address }
  const documents: MailEvent[] = []
  if (hasLeft) documents.push(sentEvent(sentEventId(event), named, event.payload.timestamp, sentTo(row, event)))
  const document = publicEventOf(event, named)
  if (document) documents.push(document)
  const changed = { ...row, ...progressBy(event, row), labels }
  const added = labelRecords({ message: changed, change, at: now })
  return {
    message: { row: changed, before, records: [...records, ...added] },
    events: [...publicEvents(documents, changed, now), ...added.map(labelEvent)],
  }
}

type Progress = Pick<MessageRow, 'handed_over_at' | 'settled_at' | 'delayed_at' | 'opened_at'>

/** The order of the events does not matter: the first hand-over and opening, the latest end and delay are kept. */
function progressBy(event: DeliveryEvent, row: Progress): Progress {
  const at = new Date(event.payload.timestamp)
  const first = (known: Date | null) => (known !== null && known <= at ? known : at)
  const last = (known: Date | null) => (known !== null && known >= at ? known : at)
  return {
    handed_over_at: impliesHandOver(event) ? first(row.handed_over_at) : row.handed_over_at,
    settled_at: endsDelivery(event) ? last(row.settled_at) : row.settled_at,
    delayed_at: event.type === 'delivery.delayed' ? last(row.delayed_at) : row.delayed_at,
    opened_at: event.type === 'delivery.opened' ? first(row.opened_at) : row.opened_at,
  }
}

async function applyWithoutMessage(tx: Tx, outbox: Outbox, events: readonly DeliveryEvent[]): Promise<void> {
  if (events.length === 0) return
  const references = events.map(({ payload }) => payload)
  const [deleted, inboxes] = await Promise.all([
    tombstones.among(tx, references),
    findTombstones(
      tx,
      references.map(({ inbox_uid }) => inbox_uid),
    ),
  ])
  const deletedKeys = new Set(deleted.map(keyOf))
  const others = events.filter(({ payload }) => !deletedKeys.has(keyOf(payload)))
  const published = others.flatMap((event) => {
    const inbox = inboxes.get(event.payload.inbox_uid)
    return inbox ? eventsOfDeletedInbox(inbox, event) : []
  })
  await Promise.all([
    outbox.addAll(tx, topics['mail.messages'], published),
    pendingDeliveryEvents.keep(
      tx,
      others.filter(({ payload }) => !inboxes.has(payload.inbox_uid)),
    ),
  ])
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

function eventsOfDeletedInbox(inbox: Tombstone, event: DeliveryEvent): MailMessageEvent[] {
  const { organization_id, pod_id, address } = inbox
  if (address === null || pod_id === null) return []
  const { inbox_uid, message_id, thread_id, timestamp } = event.payload
  const named = { inbox_id: address, thread_id, message_id }
  const document =
    event.type === 'delivery.handed_over'
      ? sentEvent(event.id, named, timestamp, event.payload.recipients)
      : publicEventOf(event, named)
  if (!document) return []
  const about = { organization_id, pod_id, inbox_uid, message_id, labels: [], inbox_deleted: true }
  return publicEvents([document], about, new Date())
}

/** The events about a message. Each document is the content of one. */
function publicEvents(documents: readonly MailEvent[], about: MessageFacts, time: Date): MailMessageEvent[] {
  return documents.map((document) =>
    topics['mail.messages'].event(document.event_type, document, { id: document.event_id, time, about }),
  )
}
