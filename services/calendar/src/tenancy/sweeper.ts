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
  ['cancelled_dates', `cancelled_at < now() - ${interval(CALENDAR_LIMITS.dateKept)}`],
  ['deletions', 'expires_at < now()'],
  // No request that was admitted before can still arrive.
  ['take_overs', "heard_at < now() - interval '1 day'"],
]

const SWEEPS: readonly Statement<{ deleted: number }, [rows: number]>[] = OVER.map(([table, condition]) =>
  sql(
    `with gone as (
       delete from ${table}
        where ctid = any(array(select ctid from ${table} where ${condition} limit $1 for update skip locked)) returning 1)
     select count(*)::int as deleted from gone`,
  ),
)

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
