import { Batcher } from '@restante/service/concurrency'
import type { Transactional, Tx } from '@restante/service/database'
import { LeaseLostError } from '../state/errors.ts'
import { COMPLETE_TIMERS, LOCK_TIMERS } from '../state/statements.ts'

/** What attempts that end at the same time do in one transaction. */
export interface JointOptions<Item> {
  /** Most attempts in one transaction. */
  readonly maxItems: number
  /** Transactions at the same time. Default 1. */
  readonly concurrency?: number
  /**
   * Commits the effects of several attempts, whose timers the transaction has locked; it deletes those that `effect` did
   * not postpone or reschedule. When it fails for another reason than the infrastructure, it is called for each of them
   * alone, so that one attempt never fails the others.
   */
  readonly effect: (tx: Tx, items: readonly Item[]) => Promise<void>
}

interface Member<Item> {
  readonly id: string
  readonly lease: string
  readonly item: Item
}

/**
 * Ends attempts together: one commit for all that end while the one before it is under way. An attempt that ends alone
 * does not wait for others.
 */
export class Joint<Item> {
  readonly #members: Batcher<Member<Item>, 'held' | 'lost'>

  constructor(db: Transactional, { maxItems, concurrency = 1, effect }: JointOptions<Item>) {
    const work = (members: readonly Member<Item>[]) => db.transaction((tx) => conclude(tx, members, effect))
    this.#members = new Batcher({ maxItems, concurrency, work })
  }

  /**
   * Commits the effect of one attempt with the end of its timer.
   * @throws LeaseLostError when the attempt has lost its lease: it has no effect.
   */
  async conclude({ id, lease }: { readonly id: string; readonly lease: string }, item: Item): Promise<void> {
    if ((await this.#members.add({ id, lease, item })) === 'lost') throw new LeaseLostError(id)
  }
}

async function conclude<Item>(
  tx: Tx,
  members: readonly Member<Item>[],
  effect: JointOptions<Item>['effect'],
): Promise<('held' | 'lost')[]> {
  const timersOf = (of: readonly Member<Item>[]) => [of.map(({ id }) => id), of.map(({ lease }) => lease)] as const
  const locked = new Set((await tx.query(LOCK_TIMERS, ...timersOf(members))).map(({ id }) => id))
  const own = members.filter(({ id }) => locked.has(id))
  if (own.length > 0) {
    await effect(
      tx,
      own.map(({ item }) => item),
    )
    // Deletes none that the effect postponed or rescheduled: both change the lease.
    await tx.query(COMPLETE_TIMERS, ...timersOf(own))
  }
  return members.map(({ id }) => (locked.has(id) ? 'held' : 'lost'))
}
