/** A run that has been in work for longer waits for something, and leaves its place to another. */
const BUSY_MS = 200
/** Runs in work, as a multiple of the places: their small mails are in memory besides the budget for large ones. */
const MOST = 4

interface Work {
  readonly isSlow: boolean
  readonly since: number
}

/**
 * How many inboxes' mail a pipeline has in work at once. Mails that take long must not keep the mail of others out: a
 * run gives its place up after 200 ms, up to four times as many in all, and a slow mail has the one place of its own.
 */
export class Places {
  readonly #places: number
  readonly #work = new Map<Promise<void>, Work>()

  constructor(places: number) {
    this.#places = places
  }

  /** Runs that may be taken now. */
  get free(): number {
    const ordinary = [...this.#work.values()].filter(({ isSlow }) => !isSlow)
    const now = performance.now()
    const busy = ordinary.filter(({ since }) => now - since < BUSY_MS)
    return Math.max(0, Math.min(this.#places - busy.length, MOST * this.#places - ordinary.length))
  }

  /** Slow mails that may be taken now. */
  get freeSlow(): number {
    return [...this.#work.values()].some(({ isSlow }) => isSlow) ? 0 : 1
  }

  /** Counts work until it has ended. */
  during(work: Promise<void>, isSlow: boolean): Promise<void> {
    const counted = work.finally(() => this.#work.delete(counted))
    this.#work.set(counted, { isSlow, since: performance.now() })
    return counted
  }

  /** Resolves when nothing is in work. @param onProgress called after each that ended */
  async empty(onProgress: () => void = () => {}): Promise<void> {
    while (this.#work.size > 0) {
      await Promise.race(this.#work.keys())
      onProgress()
    }
  }
}
