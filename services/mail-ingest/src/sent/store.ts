import { topics } from '@restante/contracts'
import { decodeEvent } from '@restante/messaging'
import { type Queryable, sql } from '@restante/service'
import type { DeliveryFact } from './delivery-events.ts'

const BURY = sql<never, [inboxUid: string, messageIds: readonly string[], at: string]>(`
insert into tombstones (inbox_uid, message_id, deleted_at)
select $1, message_id, $3::timestamptz from unnest($2::text[]) as deleted(message_id)
on conflict do nothing`)

const IS_BURIED = sql<{ message_id: string }, [inboxUid: string, messageId: string]>(
  'select message_id from tombstones where inbox_uid = $1 and message_id = $2',
)

/** Deleted sent messages, which neither a late copy nor a late event may bring back (events 1.2 rule 12). */
export const tombstones = {
  async add(tx: Queryable, inboxUid: string, messageIds: readonly string[], at: Date): Promise<void> {
    await tx.query(BURY, inboxUid, messageIds, at.toISOString())
  },

  async has(db: Queryable, inboxUid: string, messageId: string): Promise<boolean> {
    return (await db.query(IS_BURIED, inboxUid, messageId)).length > 0
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
insert into pending_facts (event_id, inbox_uid, message_id, type, time, payload)
values ($1, $2, $3, $4, $5::timestamptz, $6::jsonb) on conflict do nothing`)

const TAKE = sql<PendingRow, [inboxUid: string, messageId: string]>(
  'delete from pending_facts where inbox_uid = $1 and message_id = $2 returning event_id, type, time, payload',
)

const TAKE_OF_INBOX = sql<PendingRow, [inboxUid: string, rows: number]>(`
delete from pending_facts
 where event_id in (select event_id from pending_facts where inbox_uid = $1 order by time limit $2)
returning event_id, type, time, payload`)

/** Delivery events of copies that are not placed yet. */
export const pendingFacts = {
  async keep(tx: Queryable, fact: DeliveryFact): Promise<void> {
    const { inbox_uid, message_id } = fact.payload
    await tx.query(
      KEEP,
      fact.id,
      inbox_uid,
      message_id,
      fact.type,
      fact.time.toISOString(),
      JSON.stringify(fact.payload),
    )
  },

  /** Removes and returns what is stored about a message, in the order in which it happened. */
  async take(tx: Queryable, inboxUid: string, messageId: string): Promise<DeliveryFact[]> {
    return inOrder(await tx.query(TAKE, inboxUid, messageId))
  },

  /** The same for all messages of an inbox, at most this many: to be repeated while that many are returned. */
  async takeOfInbox(tx: Queryable, inboxUid: string, most: number): Promise<DeliveryFact[]> {
    return inOrder(await tx.query(TAKE_OF_INBOX, inboxUid, most))
  },
}

function inOrder(rows: PendingRow[]): DeliveryFact[] {
  return rows.sort((a, b) => a.time.getTime() - b.time.getTime()).flatMap(factOf)
}

function factOf(row: PendingRow): DeliveryFact[] {
  const fact = decodeEvent(topics['mail.deliveries'], {
    id: row.event_id,
    type: row.type,
    subject: '',
    key: '',
    time: row.time,
    routing: { organizationId: '' },
    value: Buffer.from(JSON.stringify(row.payload)),
    headers: {},
  })
  return fact.type === 'message.accepted' ? [] : [fact]
}
