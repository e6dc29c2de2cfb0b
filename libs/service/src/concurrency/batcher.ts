import { isConflictError, isInfrastructureError } from '../errors/infrastructure.ts'

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface BatcherOptions<Item, Result> {
  /** Most items in one batch. */
  readonly maxItems: number
  /** Concurrent batches. Default 1: then items are processed in the order in which they were added. */
  readonly concurrency?: number
  /**
   * Milliseconds after which one more batch may run beside one that still does: that one may wait for a lock which concerns few
   * of its items. Batches then end in another order than they began. Default: none does.
   */
  readonly relieveAfterMs?: number
  /**
   * Does the work for all items, completely or (when it rejects) not at all, and resolves to their results in order.
   */
  readonly work: (items: readonly Item[]) => Promise<readonly Result[]>
}

/**
 * Combines the work of many callers where one call for many items costs as much as for one: a transaction, a call to
 * another service. The first caller does not wait; callers that arrive while a batch runs form the next one. An item
 * that makes a batch fail fails alone: unless the infrastructure is at fault, the items are retried one by one. They are
 * also retried after a deadlock, which only some of them can be part of.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  #waiting: Waiting<Item, Result>[] = []
  #running = 0
  /** How many of those that run are to be relieved. */
  #late = 0

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
  }

  /** Resolves to the result of this item, and rejects when the work fails for it, or for its whole batch. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      // Items added in the same turn of the event loop join the batch.
      if (this.#waiting.length === 0) setImmediate(() => this.#begin())
      this.#waiting.push({ item, resolve, reject })
    })
  }

  #begin(): void {
    const { maxItems, concurrency = 1 } = this.#options
    const most = (): number => concurrency + Math.min(this.#late, 1)
    while (this.#running < most() && this.#waiting.length > 0) void this.#run(this.#waiting.splice(0, maxItems))
  }

  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const { relieveAfterMs } = this.#options
    this.#running++
    let isLate = false
    const relieve = (): void => {
      isLate = true
      this.#late++
      this.#begin()
    }
    const timer = relieveAfterMs === undefined ? undefined : setTimeout(relieve, relieveAfterMs)
    await this.#work(batch)
    clearTimeout(timer)
    this.#running--
    if (isLate) this.#late--
    this.#begin()
  }

  async #work(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.work(batch.map(({ item }) => item))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      const isOutage = isInfrastructureError(error) && !isConflictError(error)
      if (batch.length === 1 || isOutage) for (const { reject } of batch) reject(error)
      else for (const one of batch) await this.#work([one])
    }
  }
}
