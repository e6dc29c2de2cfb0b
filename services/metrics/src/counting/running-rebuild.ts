import { markEvents, type RecordedEvent } from '@restante/messaging'
import { sql, type Tx } from '@restante/service/database'
import { dayOf } from '../series/series.ts'

/** A rebuild that is reading the topics. */
export interface RunningRebuild {
  readonly id: number
  /** The first day that it rebuilds. */
  readonly cut_day: number
}

const HOLD = sql<never>(`select pg_advisory_xact_lock_shared(hashtextextended('rebuild', 0))`)
const EXCLUDE = sql<never>(`select pg_advisory_xact_lock(hashtextextended('rebuild', 0))`)
const RUNNING = sql<RunningRebuild>(`select id, cut_day from rebuilds where state = 'reading'`)

/** Has the rebuild that runs neither start nor end until the transaction ends. @returns it, when there is one. */
export async function holdRebuild(tx: Tx): Promise<RunningRebuild | undefined> {
  const [, [running]] = await Promise.all([tx.query(HOLD), tx.query(RUNNING)])
  return running
}

/** Excludes counting until the transaction ends, so that a rebuild starts or ends between two batches of events. */
export async function excludeCounting(tx: Tx): Promise<void> {
  await tx.query(EXCLUDE)
}

/** The name under which a rebuild marks the events that it has. */
export function rebuildConsumer(id: number): string {
  return `metrics.rebuild-${id}`
}

/**
 * Marks the events of the days that are rebuilt as part of the rebuild, before scopes are held: in this order two transactions
 * never wait for each other. @returns the ids of those that it did not have.
 */
export function markForRebuild(
  tx: Tx,
  rebuild: RunningRebuild,
  events: readonly RecordedEvent[],
): Promise<Set<string>> {
  const due = events.filter(({ time }) => dayOf(time.getTime()) >= rebuild.cut_day)
  return markEvents(
    tx,
    rebuildConsumer(rebuild.id),
    due.map(({ id }) => id),
  )
}
