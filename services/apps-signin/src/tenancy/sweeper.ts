import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, type Statement, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

const EVERY_MS = 60_000
/** Rows per statement, so that none runs for long. */
const BATCH = 1_000

/** A PostgreSQL interval of so many milliseconds. */
const interval = (ms: number): string => `interval '${ms} milliseconds'`
const HOUR = 3_600_000

/**
 * Rows that nothing asks for any more. Sign-ins that have ended stay for an hour, so that a late step of one is told that
 * it expired, and a second use of a code is noticed for as long as its token lives.
 */
const OVER: readonly (readonly [table: string, condition: string])[] = [
  ['tickets', `expires_at < now() - ${interval(HOUR)}`],
  ['connect_replays', 'expires_at < now()'],
  ['transactions', `expires_at < now() - ${interval(HOUR)}`],
  ['enrollments', `expires_at < now() - ${interval(HOUR)}`],
  ['owner_approvals', `expires_at < now() - ${interval(HOUR)}`],
  // Counted against a limit per hour.
  ['owner_mails', `created_at < now() - ${interval(2 * HOUR)}`],
  ['codes', `expires_at < now() - ${interval(HOUR)}`],
  ['access_tokens', 'expires_at < now()'],
  ['consents', `used_at < now() - ${interval(LIMITS.app.consent)}`],
  ['exchange_counts', `minute < now() - ${interval(HOUR)}`],
  // An open client whose last account is gone. Its next sign-in makes it a row again.
  ['apps', "kind = 'open' and not exists (select from accounts where accounts.app_id = apps.id)"],
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
      name: 'sweeper of expired sign-ins',
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
