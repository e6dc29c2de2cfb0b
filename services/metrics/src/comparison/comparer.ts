import { Periodic } from '@restante/service/process'
import { withLease } from '../leading/lease.ts'
import { DAY_MS } from '../series/series.ts'
import type { ComparingOptions } from './comparing.ts'
import { compareEntities } from './entities.ts'
import { compareMailboxes } from './mailboxes.ts'
import { endComparison, lastComparison, lastFinished, startComparison } from './store.ts'
import { comparedAt } from './telemetry.ts'
import { compareWiderScopes } from './wider-scopes.ts'

const EVERY_MS = 5_000
/** Comparisons begin in the two hours after this time of the day, UTC: not all installations ask their engines at once. */
const NIGHT_MS = 2 * 3_600_000
const SPREAD_MS = 2 * 3_600_000

/**
 * Compares running totals with the counts of their owners: once a night, when an operator asks, after a rebuild, and at the
 * first start, which fills the totals of what happened before. One process at a time does; one that is killed begins again.
 */
export class Comparer extends Periodic {
  readonly #options: ComparingOptions
  readonly #spread = Math.random() * SPREAD_MS

  constructor(options: ComparingOptions) {
    const { log } = options
    super({ name: 'comparison', everyMs: EVERY_MS, log, work: (stopping) => this.work(stopping) })
    this.#options = options
  }

  /** Has a comparison run. @returns false when one is running. */
  async begin(operator?: string): Promise<boolean> {
    const started = await startComparison(this.#options.db, operator)
    this.notify()
    return started
  }

  /** Runs the comparison that is due or was asked for, if there is one and no other process runs it. */
  async work(stopping: AbortSignal): Promise<void> {
    const { db, log } = this.#options
    if (isDue(await lastComparison(db), Date.now(), this.#spread)) await startComparison(db)
    comparedAt.set(await lastFinished(db))
    const running = await lastComparison(db)
    if (running === undefined || running.ended_at !== null) return
    await withLease(db, 'comparison', stopping, async (lease) => {
      const began = Date.now()
      const comparing = { ...this.#options, lease, comparison: running.id }
      await compareEntities(comparing)
      await compareMailboxes(comparing)
      await compareWiderScopes(comparing)
      lease.stopping.throwIfAborted()
      await endComparison(db, running.id)
      comparedAt.set(await lastFinished(db))
      log.info({ comparison: running.id, ms: Date.now() - began }, 'usage totals compared with their owners')
    })
  }
}

/**
 * Whether a comparison begins by itself: the first one, and one a night.
 * @param spread milliseconds into the two hours of the night from which on this process begins one
 */
export function isDue(last: { readonly started_at: Date } | undefined, now: number, spread: number): boolean {
  if (last === undefined) return true
  const tonight = Math.floor(now / DAY_MS) * DAY_MS + NIGHT_MS
  return last.started_at.getTime() < tonight && now >= tonight + spread
}
