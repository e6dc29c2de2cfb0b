import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { type Database, type Statement, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

const EVERY_MS = 60_000
/** Rows per statement, so that none runs for long. */
const BATCH = 1_000

/** A PostgreSQL interval of so many milliseconds. */
const interval = (ms: number): string => `interval '${ms} milliseconds'`

/** Rows that nothing asks for any more (calendar 18). */
const OVER: readonly (readonly [table: string, condition: string])[] = [
  // One that runs still gets its end, however late.
  ['begun_dates', `end_at < now() - ${interval(CALENDAR_LIMITS.dateKept)} and state <> 'running'`],
  ['deletions', 'expires_at < now()'],
  // No request that was admitted before can still arrive.
  ['take_overs', "heard_at < now() - interval '1 day'"],
]

type Sweep = Statement<{ deleted: number }, [rows: number]>

const DELETIONS = OVER.map(
  ([table, condition]): Sweep =>
    sql(
      `with gone as (
       delete from ${table}
        where ctid = any(array(select ctid from ${table} where ${condition} limit $1 for update skip locked)) returning 1)
     select count(*)::int as deleted from gone`,
    ),
)

/**
 * Dates that were taken out of their series. Of one that ran the row stays as long as its record, which would bring it back.
 * Where the series names the slot in its exdates, the row stays without its document, as the mark that a date was there
 * (calendar 8); cancelled in 1970, it is not looked at again. The hour is for clocks that differ from that of the database.
 */
const REMOVED: Sweep = sql(
  `with over as (
       select ctid, event_id, slot from cancelled_dates
        where cancelled_at < now() - ${interval(CALENDAR_LIMITS.dateKept)} - interval '1 hour' and cancelled_at > 'epoch'
          and not exists (select from begun_dates as ran
                           where ran.event_id = cancelled_dates.event_id and ran.slot = cancelled_dates.slot)
        limit $1 for update skip locked),
     named as (
       select over.ctid from over join events on events.id = over.event_id where over.slot = any(events.exdates)),
     marked as (
       update cancelled_dates set document = 'null', cancelled_at = 'epoch'
        where ctid = any(array(select ctid from named)) returning 1),
     gone as (
       delete from cancelled_dates
        where ctid = any(array(select ctid from over except select ctid from named)) returning 1)
     select ((select count(*) from marked) + (select count(*) from gone))::int as deleted`,
)

/** In this order: what ends the record of a date comes before what says that it was taken out. */
const SWEEPS: readonly Sweep[] = [...DELETIONS, REMOVED]

/** Deletes what has expired, of every table, in bounded batches. Any number of replicas may. */
export class ExpirySweeper extends Periodic {
  constructor({ db, log }: { readonly db: Database; readonly log: Logger }) {
    super({
      name: 'sweeper of expired dates',
      everyMs: EVERY_MS,
      log,
      work: (stopping) => sweepExpired(db, stopping),
    })
  }
}

/** Sweeps until nothing is left, or the process stops. */
export async function sweepExpired(db: Database, stopping: AbortSignal): Promise<void> {
  for (const statement of SWEEPS) {
    for (let deleted = BATCH; deleted === BATCH && !stopping.aborted; ) {
      const [row] = await db.query(statement, BATCH)
      deleted = row?.deleted ?? 0
    }
  }
}
