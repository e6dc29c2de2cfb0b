interface Sized {
  readonly raw: { readonly length: number }
  /** When it was enqueued, in milliseconds. */
  readonly since: number
}

/**
 * Mails that wait for a thread. The smallest comes first, because size bounds what a mail can cost: honest mail
 * overtakes large and hostile mail. Once the oldest has waited too long, every other slot is given to the oldest, so
 * that none waits forever.
 */
export class SmallestFirstQueue<T extends Sized> {
  readonly #waiting: T[] = []
  readonly #maxWaitMs: number
  #oldestLast = false

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs
  }

  get length(): number {
    return this.#waiting.length
  }

  add(item: T): void {
    this.#waiting.push(item)
  }

  /** Removes and returns the next item of those that are not larger than this. */
  next(mostBytes = Number.POSITIVE_INFINITY): T | undefined {
    const first = this.#waiting.findIndex(({ raw }) => raw.length <= mostBytes)
    const oldest = this.#waiting[first]
    if (oldest === undefined) return undefined
    this.#oldestLast = !this.#oldestLast && performance.now() - oldest.since > this.#maxWaitMs
    const at = this.#oldestLast ? first : this.#smallest()
    return this.#waiting.splice(at, 1)[0]
  }

  /** Removes and returns all items. */
  takeAll(): T[] {
    return this.#waiting.splice(0)
  }

  #smallest(): number {
    let found = 0
    let least = Number.POSITIVE_INFINITY
    for (const [index, { raw }] of this.#waiting.entries()) {
      if (raw.length >= least) continue
      least = raw.length
      found = index
    }
    return found
  }
}
