import type { Schedule } from '@restante/jobs'
import { type Statement, sql, type Tx } from '@restante/service/database'
import { type BatchOutcome, deleteRows, type PurgeInBatches, type RowDeletion, rowDeletion } from '@restante/tenancy'
import type { CalendarTimers } from '../timers/kinds.ts'
import { INBOX_TABLES, ORGANIZATION_TABLES } from './tables.ts'

type Owner = 'inbox_uid' | 'organization_id'

/** Rows per table and transaction. */
const BATCH = 1_000
/** Events per transaction: each may have hundreds of edits, which go with it. */
const EVENTS = 100

const OF_INBOX = INBOX_TABLES.map((table) => rowDeletion(table, 'inbox_uid'))
const OF_ORGANIZATION = ORGANIZATION_TABLES.map((table) => rowDeletion(table, 'organization_id'))
const EVENTS_OF_INBOX = eventsOf('inbox_uid')
const EVENTS_OF_ORGANIZATION = eventsOf('organization_id')

/** Deletes the calendars of deleted inboxes and organizations, silently: no event tells of it (calendar 7). */
export function calendarPurge(timers: Schedule<CalendarTimers>): PurgeInBatches {
  return {
    inbox: (tx, inboxUid) => deleteBatches(tx, timers, [EVENTS_OF_INBOX, OF_INBOX], inboxUid),
    organization: (tx, id) => deleteBatches(tx, timers, [EVENTS_OF_ORGANIZATION, OF_ORGANIZATION], id),
  }
}

async function deleteBatches(
  tx: Tx,
  timers: Schedule<CalendarTimers>,
  [events, others]: readonly [typeof EVENTS_OF_INBOX, readonly RowDeletion[]],
  id: string,
): Promise<BatchOutcome> {
  const ids = (await tx.query(events, id, EVENTS)).map((event) => event.id)
  // A timer whose attempt is just being concluded finds no event.
  await timers.cancelIdle(tx, 'boundary', ids)
  const more = await deleteRows(tx, others, id, BATCH)
  return more || ids.length === EVENTS ? 'more' : 'ended'
}

function eventsOf(column: Owner): Statement<{ id: string }, [id: string, rows: number]> {
  return sql(
    `delete from events where id in (select id from events where ${column} = $1 limit $2 for update) returning id`,
  )
}
