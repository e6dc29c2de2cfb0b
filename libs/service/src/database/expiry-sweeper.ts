import { Periodic } from '../process/periodic.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Database } from './database.ts'
import { type Statement, sql } from './statement.ts'

/** Sweeps so many rows at most, and says how many there were. */
export type Sweep = Statement<{ swept: number }, [rows: number]>

/** Deletes the rows of a table that fulfil a condition. Of two processes at once each takes other rows. */
export function sweepOf(table: string, condition: string): Sweep {
  return sql(
    `with gone as (
       delete from ${table}
        where ctid = any(array(select ctid from ${table} where ${condition} limit $1 for update skip locked)) returning 1)
     select count(*)::int as swept from gone`,
  )
}

const EVERY_MS = 60_000
/** Rows per statement, so that none runs for long. */
const BATCH = 1_000

export interface ExpirySweeperOptions {
  readonly db: Database
  readonly log: Logger
  /** What is swept, for the log: `sweeper of expired sign-ins`. */
  readonly name: string
  /** In their order. */
  readonly sweeps: readonly Sweep[]
}

/** Deletes what has expired, every minute and in bounded batches. Any number of replicas may. */
export class ExpirySweeper extends Periodic {
  constructor({ db, log, name, sweeps }: ExpirySweeperOptions) {
    super({ name, everyMs: EVERY_MS, log, work: (stopping) => sweepAll(db, sweeps, stopping) })
  }
}

/** Sweeps until nothing is left, or the process stops. */
export async function sweepAll(db: Database, sweeps: readonly Sweep[], stopping: AbortSignal): Promise<void> {
  for (const sweep of sweeps) {
    for (let swept = BATCH; swept === BATCH && !stopping.aborted; ) {
      const [row] = await db.query(sweep, BATCH)
      swept = row?.swept ?? 0
    }
  }
}
