/** A run that has been in progress for longer is waiting for something, so its slot is released. */
const BUSY_MS = 200
/**
 * Most runs in progress, as a multiple of the slots: their small mails are in memory in addition to the limit for large
 * ones.
 */
const MOST = 4

interface Work {
  readonly isSlow: boolean
  readonly since: number
}

/**
 * Limits the number of inboxes whose mail a pipeline processes concurrently. Mails that take long must not block
 * others: a run releases its slot after 200 ms, up to four times the slots in total, and slow mails have one slot of
 * their own.
 */
export class InboxSlots {
  readonly #slots: number
  readonly #work = new Map<Promise<void>, Work>()

  constructor(slots: number) {
    this.#slots = slots
  }

  /** Number of runs that may be taken now. */
  get free(): number {
    const ordinary = [...this.#work.values()].filter(({ isSlow }) => !isSlow)
    const now = performance.now()
    const busy = ordinary.filter(({ since }) => now - since < BUSY_MS)
    return Math.max(0, Math.min(this.#slots - busy.length, MOST * this.#slots - ordinary.length))
  }

  /** Number of slow mails that may be taken now. */
  get freeSlow(): number {
    return [...this.#work.values()].some(({ isSlow }) => isSlow) ? 0 : 1
  }

  /** Counts work until it has ended. */
  during(work: Promise<void>, isSlow: boolean): Promise<void> {
    const counted = work.finally(() => this.#work.delete(counted))
    this.#work.set(counted, { isSlow, since: performance.now() })
    return counted
  }

  /** Resolves when nothing is in progress. @param onProgress called after each that ended */
  async empty(onProgress: () => void = () => {}): Promise<void> {
    while (this.#work.size > 0) {
      await Promise.race(this.#work.keys())
      onProgress()
    }
  }
}
