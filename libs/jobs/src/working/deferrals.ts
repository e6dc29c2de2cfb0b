import { Batcher } from '@restante/service/concurrency'
import type { Queryable } from '@restante/service/database'
import { type ClaimedTimer, POSTPONE_TIMERS } from '../state/statements.ts'

/** Most timers that one statement postpones. */
const TOGETHER = 100

interface Deferred {
  readonly timer: Pick<ClaimedTimer<unknown>, 'id' | 'lease'>
  readonly dueAt: Date
}

/** Postpones timers whose attempts have no effect; those that are postponed while a statement runs share the next one. */
export class Deferrals {
  readonly #together: Batcher<Deferred, boolean>

  constructor(db: Queryable) {
    this.#together = new Batcher({
      maxItems: TOGETHER,
      work: async (deferred) => {
        const postponed = await db.query(
          POSTPONE_TIMERS,
          deferred.map(({ timer }) => timer.id),
          deferred.map(({ timer }) => timer.lease),
          deferred.map(({ dueAt }) => dueAt.toISOString()),
        )
        const leases = new Set(postponed.map(({ lease }) => lease))
        return deferred.map(({ timer }) => leases.has(timer.lease))
      },
    })
  }

  /** @returns false when the timer was not postponed, because its lease is lost or it is locked. */
  defer(timer: Deferred['timer'], dueAt: Date): Promise<boolean> {
    return this.#together.add({ timer, dueAt })
  }
}
