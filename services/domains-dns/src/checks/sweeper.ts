import type { Schedule } from '@restante/jobs'
import { type Database, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { AUTOMATIC_UNTIL } from '../status/schedule.ts'
import type { CheckTimers } from './timers.ts'

export interface CheckSweeperOptions {
  readonly db: Database
  readonly log: Logger
  readonly timers: Schedule<CheckTimers>
}

const EVERY_MS = 3_600_000
/** Registrations per transaction. */
const BATCH = 500

const UNCHECKED = sql<{ uid: string }, [after: string | null, limit: number]>(
  `select uid from domains
    where ($1::uuid is null or uid > $1)
      and (status = 'VERIFIED' or scheduled_from > now() - interval '${AUTOMATIC_UNTIL} milliseconds')
      and not exists (select from timers where kind in ('domain-check', 'domain-verify') and key = domains.uid::text)
    order by uid limit $2`,
)

/**
 * Finds registrations that are due for checks and have no timer. One gets there without losing it: a certificate that
 * comes after the automatic checks have ended makes a domain verified, and no check does.
 */
export class CheckSweeper extends Periodic {
  constructor({ db, log, timers }: CheckSweeperOptions) {
    super({ name: 'check sweeper', everyMs: EVERY_MS, log, work: (stopping) => sweepChecks({ db, timers }, stopping) })
  }

  override async start(): Promise<void> {
    await super.start()
    this.notify()
  }
}

/** Schedules their checks, in batches, until none is left or the process stops. */
export async function sweepChecks(
  { db, timers }: Pick<CheckSweeperOptions, 'db' | 'timers'>,
  stopping: AbortSignal,
): Promise<void> {
  for (let after: string | undefined; !stopping.aborted; ) {
    const found = await db.query(UNCHECKED, after ?? null, BATCH)
    await db.transaction(async (tx) => {
      for (const { uid } of found) await timers.scheduleIfMissing(tx, { kind: 'domain-check', key: uid, payload: {} })
    })
    if (found.length < BATCH) return
    after = found.at(-1)?.uid
  }
}
