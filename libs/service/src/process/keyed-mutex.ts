import { ApiError } from '../http/api-error.ts'

export interface KeyedMutexOptions {
  /** How long is waited for a turn, in milliseconds. Default 10 s. */
  readonly patienceMs?: number
}

/**
 * Lets work on one key run one after the other within this process. The database's lock is what decides between
 * processes; this keeps a crowd that waits for the same lock from holding every connection of the pool meanwhile.
 */
export class KeyedMutex {
  readonly #patienceMs: number
  /** Per key, the end of whatever came last. */
  readonly #tails = new Map<string, Promise<void>>()

  constructor({ patienceMs = 10_000 }: KeyedMutexOptions = {}) {
    this.#patienceMs = patienceMs
  }

  /** @throws ApiError 503 when the turn does not come; `work` has not begun then, and never will. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const tail = before === undefined ? over : before.then(() => over)
    this.#tails.set(key, tail)
    // Not when this work ends: if it gave up, those before it go on, and the next has to wait for them.
    tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    try {
      if (before !== undefined) await this.#await(before)
      return await work()
    } finally {
      end()
    }
  }

  async #await(before: Promise<void>): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new ApiError('service_unavailable', { retryAfter: 1 })), this.#patienceMs)
    try {
      await Promise.race([before, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
