import { LIMITS } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { deleteEntriesBefore } from './store.ts'

const EVERY_MS = 60_000
const BATCH = 1_000

/** Keeps the log at one day: content must not be stored here longer. */
export class LogSweeper extends Periodic {
  constructor(options: { db: Queryable; log: Logger }) {
    const work = (stopping: AbortSignal) => sweepLog(options.db, stopping)
    super({ name: 'stream log sweeper', everyMs: EVERY_MS, log: options.log, work })
  }
}

async function sweepLog(db: Queryable, stopping: AbortSignal): Promise<void> {
  const end = new Date(Date.now() - LIMITS.stream.log)
  while ((await deleteEntriesBefore(db, end, BATCH)) === BATCH && !stopping.aborted) {
    // There may be more to delete.
  }
}
