import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

const EVERY_MS = 60_000
const BATCH = 1_000

// Deletions stay twice as long as events: an event that arrives after the deletion of its inbox is never replayed.
const DELETE_OLD = sql<{ deleted: number }, [olderThan: Date, limit: number]>(
  `with gone as (
     delete from stream_log where position in (
       select position from stream_log
       where created_at < $1 and (kind not in ('inbox_deleted', 'pod_deleted') or created_at < $1 - interval '1 day')
       order by created_at limit $2)
     returning position, kind), swept as (
     update stream_log_swept set through = greatest(through, (select max(position) from gone where kind = 'event')))
   select count(*)::int as deleted from gone`,
)

const FORGET_TOMBSTONES = sql<unknown, [olderThan: Date]>('delete from deleted_messages where noted_at < $1')

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
  await db.query(FORGET_TOMBSTONES, new Date(Date.now() - LIMITS.retention.topic))
}

/**
 * Deletes at most `limit` entries older than the given time, and records how far the log has been swept. @returns how
 * many.
 */
export async function deleteEntriesBefore(db: Queryable, time: Date, limit: number): Promise<number> {
  const [row] = await db.query(DELETE_OLD, time, limit)
  return row?.deleted ?? 0
}
