import { topics } from '@restante/contracts/events'
import { decodeEvent } from '@restante/messaging'
import { type Queryable, sql } from '@restante/service/database'
import type { DeliveryEvent } from './delivery-events.ts'

type Column = readonly string[]

const ADD_TOMBSTONES = sql<never, [inboxUids: Column, messageIds: Column, at: string]>(`
insert into tombstones (inbox_uid, message_id, deleted_at)
select inbox_uid, message_id, $3::timestamptz from unnest($1::uuid[], $2::text[]) as deleted(inbox_uid, message_id)
 order by 1, 2
on conflict do nothing`)

/** A message of an inbox. */
export interface SentReference {
  readonly inbox_uid: string
  readonly message_id: string
}

/** A name of a message, unique among all inboxes. */
export function keyOf({ inbox_uid, message_id }: SentReference): string {
  return `${inbox_uid} ${message_id}`
}

const TOMBSTONES = sql<SentReference, [inboxUids: readonly string[], messageIds: readonly string[]]>(
  `select inbox_uid, message_id from unnest($1::uuid[], $2::text[]) as asked(inbox_uid, message_id)
   join tombstones using (inbox_uid, message_id)`,
)

/** A copy that must not be stored. */
export interface UnwantedCopy extends SentReference {
  readonly of_deleted_thread: boolean
}

// Scalar subqueries, because `exists` may be planned as a scan of the whole table.
const UNWANTED = sql<UnwantedCopy, [inboxUids: Column, messageIds: Column, threadNames: Column]>(`
select inbox_uid, message_id, of_deleted_thread
  from (select inbox_uid, message_id,
               coalesce((select true from tombstones t where t.inbox_uid = copy.inbox_uid and t.message_id = thread_name), false)
                 as of_deleted_thread
          from unnest($1::uuid[], $2::text[], $3::text[]) as copy(inbox_uid, message_id, thread_name)) as copy
 where of_deleted_thread or coalesce(
   (select true from messages m where m.inbox_uid = copy.inbox_uid and m.message_id = copy.message_id),
   (select true from tombstones t where t.inbox_uid = copy.inbox_uid and t.message_id = copy.message_id),
   (select true from deleted_scopes where id = copy.inbox_uid and kind = 'inbox'))`)

/** The name of a deleted thread among the tombstones, whose other names are the ids of messages: these have an `@`. */
function threadName(threadId: string): string {
  return `thread ${threadId}`
}

/** Those of some copies that are stored already, or must not be stored (again): they, their threads or their inboxes were deleted. */
export function unwantedAmong(
  on: Queryable,
  copies: readonly (SentReference & { readonly thread_id: string })[],
): Promise<UnwantedCopy[]> {
  return on.query(
    UNWANTED,
    copies.map(({ inbox_uid }) => inbox_uid),
    copies.map(({ message_id }) => message_id),
    copies.map(({ thread_id }) => threadName(thread_id)),
  )
}

/** Deleted sent messages and threads, which neither a late copy nor a late event may bring back (events 1.2 rule 12). */
export const tombstones = {
  async add(on: Queryable, messages: readonly SentReference[], at: Date): Promise<void> {
    if (messages.length === 0) return
    await on.query(
      ADD_TOMBSTONES,
      messages.map(({ inbox_uid }) => inbox_uid),
      messages.map(({ message_id }) => message_id),
      at.toISOString(),
    )
  },

  addThread(tx: Queryable, inboxUid: string, threadId: string, at: Date): Promise<void> {
    return this.add(tx, [{ inbox_uid: inboxUid, message_id: threadName(threadId) }], at)
  },

  /** Those of the given messages that were deleted. */
  among(db: Queryable, messages: readonly SentReference[]): Promise<SentReference[]> {
    return db.query(
      TOMBSTONES,
      messages.map(({ inbox_uid }) => inbox_uid),
      messages.map(({ message_id }) => message_id),
    )
  },
}

interface PendingRow {
  readonly event_id: string
  readonly type: string
  readonly time: Date
  readonly payload: unknown
}

const KEEP = sql<
  never,
  [eventIds: Column, inboxUids: Column, messageIds: Column, types: Column, times: Column, payloads: Column]
>(`
insert into pending_delivery_events (event_id, inbox_uid, message_id, type, time, payload)
select event_id, inbox_uid, message_id, type, time, payload::jsonb
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[], $6::text[])
       as early(event_id, inbox_uid, message_id, type, time, payload)
 order by event_id
on conflict do nothing`)

const TAKE = sql<PendingRow, [inboxUids: readonly string[], messageIds: readonly string[]]>(`
delete from pending_delivery_events as early
 using unnest($1::uuid[], $2::text[]) as copy(inbox_uid, message_id)
 where early.inbox_uid = copy.inbox_uid and early.message_id = copy.message_id
returning event_id, type, time, payload`)

const TAKE_OF_INBOX = sql<PendingRow, [inboxUid: string, rows: number]>(`
delete from pending_delivery_events
 where event_id in (select event_id from pending_delivery_events where inbox_uid = $1 order by time limit $2)
returning event_id, type, time, payload`)

/** Delivery events of copies that are not placed yet. */
export const pendingDeliveryEvents = {
  async keep(tx: Queryable, events: readonly DeliveryEvent[]): Promise<void> {
    if (events.length === 0) return
    await tx.query(
      KEEP,
      events.map(({ id }) => id),
      events.map(({ payload }) => payload.inbox_uid),
      events.map(({ payload }) => payload.message_id),
      events.map(({ type }) => type),
      events.map(({ time }) => time.toISOString()),
      events.map(({ payload }) => JSON.stringify(payload)),
    )
  },

  /** Removes and returns what is stored about messages, in the order in which it happened. */
  async take(tx: Queryable, messages: readonly SentReference[]): Promise<DeliveryEvent[]> {
    const rows = await tx.query(
      TAKE,
      messages.map(({ inbox_uid }) => inbox_uid),
      messages.map(({ message_id }) => message_id),
    )
    return inOrder(rows)
  },

  /** The same for all messages of an inbox, but at most `most` events: to be repeated while as many are returned. */
  async takeOfInbox(tx: Queryable, inboxUid: string, most: number): Promise<DeliveryEvent[]> {
    return inOrder(await tx.query(TAKE_OF_INBOX, inboxUid, most))
  },
}

function inOrder(rows: PendingRow[]): DeliveryEvent[] {
  return rows.sort((a, b) => a.time.getTime() - b.time.getTime()).flatMap(eventOf)
}

function eventOf(row: PendingRow): DeliveryEvent[] {
  const event = decodeEvent(topics['mail.deliveries'], {
    id: row.event_id,
    type: row.type,
    subject: '',
    key: '',
    time: row.time,
    routing: { organizationId: '' },
    value: Buffer.from(JSON.stringify(row.payload)),
    headers: {},
  })
  return event.type === 'message.accepted' ? [] : [event]
}
