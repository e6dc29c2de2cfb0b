import { ByteSemaphore } from '../memory/byte-semaphore.ts'
import { ApiError } from './api-error.ts'

const KB = 1024
const MB = 1024 * KB
export interface BodyMemoryLimiterOptions {
  /** Bytes of all bodies together, each from its first byte until its request is answered. */
  readonly held: number
  /** Bytes of those that are worked on at once: there a body is several times, as text and as what is made of it. */
  readonly workedOn: number
  /** Longest wait for a turn. */
  readonly turnMs: number
}

const DEFAULTS: BodyMemoryLimiterOptions = { held: 128 * MB, workedOn: 12 * MB, turnMs: 15_000 }
/** A crowd of smaller ones is bounded by `held`. */
const SMALL = 64 * KB

/**
 * How much of what is free one owner may hold besides: twice as much. Alone that is two thirds of everything, and however
 * many take what they can get, as much as half a share stays free for one who comes later.
 */
const SHARE = 2

/**
 * Does slow work, such as a request to somewhere else, that nobody shall wait for: meanwhile the turn is given to others.
 * One at a time.
 * @throws ApiError 503 when it does not become one's turn again.
 */
export type Aside = <T>(slow: () => Promise<T>) => Promise<T>

/** Bounds what bodies, received or fetched, take of a process's memory, whoever brings how many of them at once. */
export class BodyMemoryLimiter {
  readonly #options: BodyMemoryLimiterOptions
  readonly #turns: ByteSemaphore
  /** By owner; those who hold nothing are not in it. */
  readonly #heldBy = new Map<string, number>()
  #held = 0

  constructor(options: Partial<BodyMemoryLimiterOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options }
    this.#turns = new ByteSemaphore({ bytes: this.#options.workedOn, uncounted: SMALL })
  }

  /**
   * Does the work of one request, which counts the bytes of its body as they arrive: those that were only announced take
   * no room from others.
   * @param owner who must leave room for others: the organization, or one name for all who are unknown.
   * @throws ApiError 503 out of `count` when there is no room for more, or none for more of this owner.
   */
  async hold<T>(owner: string, work: (count: (bytes: number) => void) => Promise<T>): Promise<T> {
    let own = 0
    const count = (bytes: number): void => {
      own += bytes
      const heldByOwner = this.#change(owner, bytes)
      const free = this.#options.held - this.#held
      if (heldByOwner > SHARE * free) throw new ApiError('service_unavailable', { retryAfter: 1 })
    }
    try {
      return await work(count)
    } finally {
      this.#change(owner, -own)
    }
  }

  #change(owner: string, bytes: number): number {
    this.#held += bytes
    const held = (this.#heldBy.get(owner) ?? 0) + bytes
    if (held > 0) this.#heldBy.set(owner, held)
    else this.#heldBy.delete(owner)
    return held
  }

  /**
   * Does what is to be done with a body when it is its turn.
   * @param gone aborted when nobody waits for the answer any more.
   * @throws ApiError 503 when its turn does not come.
   */
  async turn<T>(bytes: number, work: (aside: Aside) => Promise<T>, gone: AbortSignal): Promise<T> {
    let mine = false
    const enter = async (): Promise<void> => {
      await this.#enter(bytes, gone)
      mine = true
    }
    const leave = (): void => {
      if (mine) this.#turns.leave(bytes)
      mine = false
    }
    const aside: Aside = async (slow) => {
      leave()
      const result = await slow()
      await enter()
      return result
    }
    await enter()
    try {
      return await work(aside)
    } finally {
      leave()
    }
  }

  async #enter(bytes: number, gone: AbortSignal): Promise<void> {
    const late = AbortSignal.timeout(this.#options.turnMs)
    try {
      await this.#turns.enter(bytes, AbortSignal.any([gone, late]))
    } catch (error) {
      if (error === late.reason) throw new ApiError('service_unavailable', { retryAfter: 1, cause: error })
      throw error
    }
  }
}
