import type { Queryable } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { FORGET_ENDED, SELECT_ENDED, SWEEP_ENDED, SWEEP_OLD } from './store.ts'

const EVERY_MS = 60_000
/** Rows per statement, so that none runs for long. */
const BATCH = 1_000

/** Removes log entries that are too old, and those of deleted webhooks. */
export class LogSweeper extends Periodic {
  constructor({ db, log }: { readonly db: Queryable; readonly log: Logger }) {
    super({ name: 'delivery log sweeper', everyMs: EVERY_MS, log, work: (stopping) => sweep(db, stopping) })
  }
}

/** Sweeps until nothing is left, or the process stops. */
export async function sweep(db: Queryable, stopping: AbortSignal): Promise<void> {
  await inBatches(() => db.query(SWEEP_OLD, BATCH), stopping)
  for (const { id } of await db.query(SELECT_ENDED)) {
    await inBatches(() => db.query(SWEEP_ENDED, id, BATCH), stopping)
    if (stopping.aborted) return
    await db.query(FORGET_ENDED, id)
  }
}

async function inBatches(sweepOnce: () => Promise<readonly unknown[]>, stopping: AbortSignal): Promise<void> {
  while ((await sweepOnce()).length === BATCH && !stopping.aborted) {
    // There may be more to delete.
  }
}
