import type { Queryable } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { SWEEP_EXPIRED } from './store.ts'

const EVERY_MS = 600_000
/** Rows per statement, so that none runs for long. */
const BATCH = 1_000

/** Removes setups from which nobody came back. */
export class SetupSweeper extends Periodic {
  constructor({ db, log }: { readonly db: Queryable; readonly log: Logger }) {
    super({ name: 'setup sweeper', everyMs: EVERY_MS, log, work: (stopping) => sweepSetups(db, stopping) })
  }
}

/** Sweeps until nothing is left, or the process stops. */
export async function sweepSetups(db: Queryable, stopping: AbortSignal): Promise<void> {
  let removed = BATCH
  while (removed === BATCH && !stopping.aborted) removed = (await db.query(SWEEP_EXPIRED, BATCH)).length
}
