import type { Schedule } from '@restante/jobs'
import { type Statement, sql, type Tx } from '@restante/service/database'
import type { BatchOutcome, PurgeInBatches } from '@restante/tenancy'
import type { CalendarTimers } from '../timers/kinds.ts'
import { INBOX_TABLES, ORGANIZATION_TABLES } from './tables.ts'

type Owner = 'inbox_uid' | 'organization_id'

/** Rows per table and transaction. */
const BATCH = 1_000
/** Events per transaction: each may have hundreds of edits, which go with it. */
const EVENTS = 100

type Deletion = Statement<{ deleted: number }, [id: string, rows: number]>

const OF_INBOX = INBOX_TABLES.map((table) => deletion(table, 'inbox_uid'))
const OF_ORGANIZATION = ORGANIZATION_TABLES.map((table) => deletion(table, 'organization_id'))
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
  [events, others]: readonly [typeof EVENTS_OF_INBOX, readonly Deletion[]],
  id: string,
): Promise<BatchOutcome> {
  const ids = (await tx.query(events, id, EVENTS)).map((event) => event.id)
  // A timer whose attempt is just being concluded finds no event.
  await timers.cancelIdle(tx, 'boundary', ids)
  let more = ids.length === EVENTS
  for (const statement of others) {
    const [row] = await tx.query(statement, id, BATCH)
    if (row?.deleted === BATCH) more = true
  }
  return more ? 'more' : 'ended'
}

function eventsOf(column: Owner): Statement<{ id: string }, [id: string, rows: number]> {
  return sql(
    `delete from events where id in (select id from events where ${column} = $1 limit $2 for update) returning id`,
  )
}

function deletion(table: string, column: Owner): Deletion {
  return sql(
    `with gone as (
       delete from ${table} where ctid = any(array(select ctid from ${table} where ${column} = $1 limit $2)) returning 1)
     select count(*)::int as deleted from gone`,
  )
}
