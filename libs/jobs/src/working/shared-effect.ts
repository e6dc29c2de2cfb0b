import { Batcher } from '@restante/service/concurrency'
import type { Transactional, Tx } from '@restante/service/database'
import { type ClaimedTimer, COMPLETE_TIMERS, LOCK_TIMERS } from '../state/statements.ts'

export interface SharedEffectOptions {
  /** Most attempts in one transaction. Default 50. */
  readonly maxItems?: number
  /** Transactions in progress, so that one that waits for a lock does not hold up all others. Default 2. */
  readonly concurrency?: number
}

interface Concluded<Item> {
  readonly timer: Pick<ClaimedTimer<unknown>, 'id' | 'lease'>
  readonly item: Item
}

/**
 * An effect with which many attempts end, and which costs about as much for many as for one: attempts that end while a
 * transaction runs share the next one. An attempt that makes the transaction fail fails alone, and one that has lost its
 * lease has no effect.
 */
export class SharedEffect<Item> {
  /** The effect of some attempts, each of which holds the lock of its timer. */
  readonly apply: (tx: Tx, items: readonly Item[]) => Promise<void>
  readonly #together: Batcher<Concluded<Item>, boolean>

  constructor(
    db: Transactional,
    apply: (tx: Tx, items: readonly Item[]) => Promise<void>,
    { maxItems = 50, concurrency = 2 }: SharedEffectOptions = {},
  ) {
    this.apply = apply
    this.#together = new Batcher({
      maxItems,
      concurrency,
      work: (concluded) => db.transaction((tx) => this.#conclude(tx, concluded)),
    })
  }

  /**
   * Commits the effect of an attempt and the end of its timer, with those of others.
   * @returns false when that had no effect, because the lease is lost or the timer is locked.
   */
  commit(timer: Concluded<Item>['timer'], item: Item): Promise<boolean> {
    return this.#together.add({ timer, item })
  }

  async #conclude(tx: Tx, concluded: readonly Concluded<Item>[]): Promise<boolean[]> {
    const ids = concluded.map(({ timer }) => timer.id)
    const leases = concluded.map(({ timer }) => timer.lease)
    const held = new Map((await tx.query(LOCK_TIMERS, ids, leases)).map(({ id, lease }) => [lease, id]))
    const effective = concluded.filter(({ timer }) => held.has(timer.lease))
    if (effective.length > 0) {
      const items = effective.map(({ item }) => item)
      await this.apply(tx, items)
      // Deletes none that the effect postponed: that changes the lease.
      await tx.query(COMPLETE_TIMERS, [...held.values()], [...held.keys()])
    }
    return concluded.map(({ timer }) => held.has(timer.lease))
  }
}
