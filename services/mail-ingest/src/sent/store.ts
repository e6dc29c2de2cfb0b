import { topics } from '@restante/contracts/events'
import { decodeEvent } from '@restante/messaging'
import { type Queryable, sql } from '@restante/service/database'
import type { DeliveryEvent } from './delivery-events.ts'

const ADD_TOMBSTONE = sql<never, [inboxUid: string, messageIds: readonly string[], at: string]>(`
insert into tombstones (inbox_uid, message_id, deleted_at)
select $1, message_id, $3::timestamptz from unnest($2::text[]) as deleted(message_id)
on conflict do nothing`)

const HAS_TOMBSTONE = sql<{ message_id: string }, [inboxUid: string, messageId: string]>(
  'select message_id from tombstones where inbox_uid = $1 and message_id = $2',
)

/** A message of an inbox. */
export interface SentReference {
  readonly inbox_uid: string
  readonly message_id: string
}

const UNWANTED = sql<SentReference, [inboxUids: readonly string[], messageIds: readonly string[]]>(`
select inbox_uid, message_id from unnest($1::uuid[], $2::text[]) as copy(inbox_uid, message_id)
 where exists (select from messages as stored where stored.inbox_uid = copy.inbox_uid and stored.message_id = copy.message_id)
    or exists (select from tombstones as gone where gone.inbox_uid = copy.inbox_uid and gone.message_id = copy.message_id)
    or exists (select from deleted_scopes where id = copy.inbox_uid and kind = 'inbox')`)

/** Those of some copies that are stored already, or must not be stored (again): they, or their inboxes, were deleted. */
export function unwantedAmong(on: Queryable, copies: readonly SentReference[]): Promise<SentReference[]> {
  return on.query(
    UNWANTED,
    copies.map(({ inbox_uid }) => inbox_uid),
    copies.map(({ message_id }) => message_id),
  )
}

/** Deleted sent messages, which neither a late copy nor a late event may bring back (events 1.2 rule 12). */
export const tombstones = {
  async add(tx: Queryable, inboxUid: string, messageIds: readonly string[], at: Date): Promise<void> {
    await tx.query(ADD_TOMBSTONE, inboxUid, messageIds, at.toISOString())
  },

  async has(db: Queryable, inboxUid: string, messageId: string): Promise<boolean> {
    return (await db.query(HAS_TOMBSTONE, inboxUid, messageId)).length > 0
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
  [eventId: string, inboxUid: string, messageId: string, type: string, time: string, payload: string]
>(`
insert into pending_delivery_events (event_id, inbox_uid, message_id, type, time, payload)
values ($1, $2, $3, $4, $5::timestamptz, $6::jsonb) on conflict do nothing`)

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
  async keep(tx: Queryable, event: DeliveryEvent): Promise<void> {
    const { inbox_uid, message_id } = event.payload
    await tx.query(
      KEEP,
      event.id,
      inbox_uid,
      message_id,
      event.type,
      event.time.toISOString(),
      JSON.stringify(event.payload),
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
