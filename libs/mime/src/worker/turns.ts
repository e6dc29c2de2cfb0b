interface Sized {
  readonly raw: { readonly length: number }
  /** When it began to wait, in milliseconds. */
  readonly since: number
}

/**
 * What waits for a thread. The smallest mail comes first, because size bounds what a mail can cost: honest mail passes
 * the large and hostile. Once the oldest has waited for too long, every other turn is its own, so none waits for ever.
 */
export class KeyedMutex<T extends Sized> {
  readonly #waiting: T[] = []
  readonly #patienceMs: number
  #oldestLast = false

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  get length(): number {
    return this.#waiting.length
  }

  add(item: T): void {
    this.#waiting.push(item)
  }

  /** Takes the item whose turn it is. */
  next(): T | undefined {
    const [oldest] = this.#waiting
    if (oldest === undefined) return undefined
    this.#oldestLast = !this.#oldestLast && performance.now() - oldest.since > this.#patienceMs
    const at = this.#oldestLast ? 0 : this.#smallest()
    return this.#waiting.splice(at, 1)[0]
  }

  /** Takes all of them. */
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
