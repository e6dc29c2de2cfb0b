import { ApiError } from '../errors/api-error.ts'
import { within } from './waiting.ts'

export interface KeyedMutexOptions {
  /** Longest wait for the mutex, in milliseconds. Default 10 s. */
  readonly timeoutMs?: number
}

/**
 * Serializes work on one key within this process. The database's lock decides between processes; the mutex keeps
 * callers that wait for the same lock from occupying every connection of the pool.
 */
export class KeyedMutex {
  readonly #timeoutMs: number
  /** Per key, the end of the last call. */
  readonly #tails = new Map<string, Promise<void>>()

  constructor({ timeoutMs = 10_000 }: KeyedMutexOptions = {}) {
    this.#timeoutMs = timeoutMs
  }

  /** @throws ApiError 503 when the wait takes too long; `work` has not begun then, and never will. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const tail = before === undefined ? over : before.then(() => over)
    this.#tails.set(key, tail)
    // A call that gave up must not release its successors early: they still wait for the calls before it.
    tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    })
    try {
      if (before !== undefined) await within(this.#timeoutMs, before, giveUp)
      return await work()
    } finally {
      end()
    }
  }
}

function giveUp(): never {
  throw new ApiError('service_unavailable', { retryAfter: 1 })
}
