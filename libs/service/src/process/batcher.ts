import { isInfrastructureError } from '../database/errors.ts'

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface BatcherOptions<Item, Result> {
  /** Most items of one batch. */
  readonly most: number
  /** Batches under way at the same time. Default 1: then items are worked on in the order in which they came. */
  readonly atOnce?: number
  /** Does the work for all items, entirely or (when it rejects) not at all, and resolves to their results in order. */
  readonly work: (items: readonly Item[]) => Promise<readonly Result[]>
}

/**
 * Does for many callers in one go what costs as much for many as for one: a transaction, a call to another service.
 * Whoever comes first does not wait; who comes while a batch is under way makes the next one together with the others.
 * An item that spoils a batch fails alone: unless the infrastructure is at fault, the batch is done again one by one.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>
  #waiting: Waiting<Item, Result>[] = []
  #running = 0

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options
  }

  /** Resolves to the result of this item, and rejects when the work fails for it, or for its whole batch. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      // Others that came in the same turn of the event loop go along.
      if (this.#waiting.length === 0) setImmediate(() => this.#begin())
      this.#waiting.push({ item, resolve, reject })
    })
  }

  #begin(): void {
    const { most, atOnce = 1 } = this.#options
    while (this.#running < atOnce && this.#waiting.length > 0) {
      this.#running++
      void this.#work(this.#waiting.splice(0, most)).finally(() => {
        this.#running--
        this.#begin()
      })
    }
  }

  async #work(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.work(batch.map(({ item }) => item))
      for (const [index, result] of results.entries()) batch[index]?.resolve(result)
    } catch (error) {
      if (batch.length === 1 || isInfrastructureError(error)) for (const { reject } of batch) reject(error)
      else for (const one of batch) await this.#work([one])
    }
  }
}
