import { isDeepStrictEqual } from 'node:util'
import { type Statement, sql, type Tx } from '@restante/service/database'
import { lastSlotOf } from '../dates/index.ts'
import type { EventRow, EventState } from '../model/rows.ts'
import { WRITTEN } from './columns.ts'

type DateTable = Exclude<keyof typeof WRITTEN, 'events'>
type Json = [rows: string]

const EVENT = [...WRITTEN.events, 'last_slot'].join(', ')
const INSERT_EVENT: Statement<never, Json> = sql(
  `insert into events (${EVENT})
   select ${EVENT} from jsonb_populate_record(null::events, $1::jsonb)`,
)
const UPDATE_EVENT: Statement<never, Json> = sql(
  `update events set (${EVENT}) =
     (select ${EVENT} from jsonb_populate_record(null::events, $1::jsonb))
    where id = ($1::jsonb ->> 'id')::uuid and inbox_uid = ($1::jsonb ->> 'inbox_uid')::uuid`,
)
const DELETE_EVENT = sql<{ id: string }, [inboxUid: string, eventId: string]>(
  'delete from events where inbox_uid = $1 and id = $2 returning id',
)

const TABLES = {
  edits: dateTable('edits', ['event_id', 'slot']),
  begun_dates: dateTable('begun_dates', ['event_id', 'slot']),
  cancelled_dates: dateTable('cancelled_dates', ['event_id', 'slot']),
  date_responses: dateTable('date_responses', ['event_id', 'slot', 'email']),
} as const

/**
 * Stores what differs between two states of an event, under its lock.
 * @param before as it is stored; undefined: the event is new.
 */
export async function saveState(tx: Tx, before: EventState | undefined, after: EventState): Promise<void> {
  if (before === undefined) await tx.query(INSERT_EVENT, rowOf(after.event))
  else if (!isDeepStrictEqual(before.event, after.event)) await tx.query(UPDATE_EVENT, rowOf(after.event))
  await saveRows(tx, 'edits', before?.edits ?? [], after.edits)
  await saveRows(tx, 'begun_dates', before?.begun ?? [], after.begun)
  await saveRows(tx, 'cancelled_dates', before?.cancelled ?? [], after.cancelled)
  await saveRows(tx, 'date_responses', before?.responses ?? [], after.responses)
}

function rowOf(event: EventRow): string {
  return JSON.stringify({ ...event, last_slot: lastSlotOf(event) })
}

/** Deletes an event with all that is stored of its dates. @returns whether there was one. */
export async function deleteEventRow(tx: Tx, inboxUid: string, eventId: string): Promise<boolean> {
  return (await tx.query(DELETE_EVENT, inboxUid, eventId)).length > 0
}

interface DateRow {
  readonly event_id: string
  readonly slot: string
  readonly email?: string
}

async function saveRows(
  tx: Tx,
  table: DateTable,
  before: readonly DateRow[],
  after: readonly DateRow[],
): Promise<void> {
  if (before === after) return
  const stored = new Map(before.map((row) => [keyOf(row), row]))
  const kept = new Set(after.map(keyOf))
  const gone = before.filter((row) => !kept.has(keyOf(row)))
  const changed = after.filter((row) => !isDeepStrictEqual(stored.get(keyOf(row)), row))
  if (gone.length > 0) await tx.query(TABLES[table].remove, JSON.stringify(gone.map(keysOf)))
  if (changed.length > 0) await tx.query(TABLES[table].upsert, JSON.stringify(changed))
}

function keysOf({ event_id, slot, email }: DateRow): DateRow {
  return { event_id, slot, ...(email !== undefined && { email }) }
}

function keyOf({ slot, email = '' }: DateRow): string {
  return `${slot} ${email}`
}

function dateTable(
  table: DateTable,
  key: readonly string[],
): { readonly upsert: Statement<never, Json>; readonly remove: Statement<never, Json> } {
  const columns = WRITTEN[table]
  const updates = columns.filter((column) => !key.includes(column)).map((column) => `${column} = excluded.${column}`)
  return {
    upsert: sql(
      `insert into ${table} (${columns.join(', ')})
       select ${columns.join(', ')} from jsonb_populate_recordset(null::${table}, $1::jsonb)
       on conflict (${key.join(', ')}) do update set ${updates.join(', ')}`,
    ),
    remove: sql(
      `delete from ${table} using jsonb_populate_recordset(null::${table}, $1::jsonb) as gone
        where ${key.map((column) => `${table}.${column} = gone.${column}`).join(' and ')}`,
    ),
  }
}

const STAMP = sql<{ stamped_at: Date }, [inboxUid: string, eventId: string, at: Date]>(
  `update events
      set stamped_at = greatest(date_trunc('second', $3::timestamptz), stamped_at + interval '1 second')
    where inbox_uid = $1 and id = $2 and source = 'api' returning stamped_at`,
)

/**
 * When a change that is mailed was made, as its DTSTAMP says. It has whole seconds, and of two versions of a date with one
 * sequence the later stamp decides (RFC 5546 2.1.5), so no two mailed changes of an event have the same.
 */
export async function stampEvent(tx: Tx, { inbox_uid, id }: EventRow, at: Date): Promise<Date> {
  const [stamped] = await tx.query(STAMP, inbox_uid, id, at)
  return stamped?.stamped_at ?? at
}
