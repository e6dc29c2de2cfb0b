import { ByteBudget } from '../memory/byte-budget.ts'
import { ApiError } from './api-error.ts'

const KB = 1024
const MB = 1024 * KB
export interface BodyMemoryOptions {
  /** Bytes of all bodies together, each from its first byte until its request is answered. */
  readonly held: number
  /** Bytes of those that are worked on at once: there a body is several times, as text and as what is made of it. */
  readonly workedOn: number
  /** Longest wait for a turn. */
  readonly turnMs: number
}

const DEFAULTS: BodyMemoryOptions = { held: 128 * MB, workedOn: 12 * MB, turnMs: 15_000 }
/** A crowd of smaller ones is bounded by `held`. */
const SMALL = 64 * KB

/** Bounds what bodies, received or fetched, take of a process's memory, whoever brings how many of them at once. */
export class BodyMemory {
  readonly #options: BodyMemoryOptions
  readonly #turns: ByteBudget
  #held = 0

  constructor(options: Partial<BodyMemoryOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options }
    this.#turns = new ByteBudget({ bytes: this.#options.workedOn, uncounted: SMALL })
  }

  /**
   * Does the work of one request, which counts the bytes of its body as they arrive: those that were only announced take
   * no room from others.
   * @throws ApiError 503 out of `count` when there is no room for more.
   */
  async hold<T>(work: (count: (bytes: number) => void) => Promise<T>): Promise<T> {
    let own = 0
    const count = (bytes: number): void => {
      own += bytes
      this.#held += bytes
      if (this.#held > this.#options.held) throw new ApiError('service_unavailable', { retryAfter: 1 })
    }
    try {
      return await work(count)
    } finally {
      this.#held -= own
    }
  }

  /**
   * Does what is to be done with a body when it is its turn.
   * @param gone aborted when nobody waits for the answer any more.
   * @throws ApiError 503 when its turn does not come.
   */
  async turn<T>(bytes: number, work: () => Promise<T>, gone: AbortSignal): Promise<T> {
    const late = AbortSignal.timeout(this.#options.turnMs)
    try {
      return await this.#turns.within(bytes, work, AbortSignal.any([gone, late]))
    } catch (error) {
      if (error === late.reason) throw new ApiError('service_unavailable', { retryAfter: 1, cause: error })
      throw error
    }
  }
}
