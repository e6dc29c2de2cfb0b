import { ByteSemaphore } from '../../concurrency/byte-semaphore.ts'
import { TimeLimitError, withTimeLimit } from '../../concurrency/time-limit.ts'
import { ApiError } from '../../errors/api-error.ts'

const KB = 1024
const MB = 1024 * KB
export interface BodyMemoryLimiterOptions {
  /** Limit for the bytes of all bodies together, each counted from its first byte until its request is answered. */
  readonly held: number
  /**
   * Limit for the bytes of bodies in processing: there a body exists several times, as text and as the objects parsed
   * from it.
   */
  readonly processing: number
  /** Longest wait for processing to begin. */
  readonly waitMs: number
}

const DEFAULTS: BodyMemoryLimiterOptions = { held: 128 * MB, processing: 12 * MB, waitMs: 15_000 }
/** Smaller bodies are processed without waiting: `held` bounds them. */
const SMALL = 64 * KB

/**
 * The most that one owner may hold, as a multiple of what is still free. An owner alone gets two thirds of everything,
 * and however many owners take their maximum, half a share stays free for the next one.
 */
const SHARE = 2

/**
 * Runs slow work (e.g. an outbound request) without holding the processing memory, which is released meanwhile and
 * acquired again afterwards. Calls must not overlap.
 * @throws ApiError 503 when the memory cannot be acquired again in time.
 */
export type YieldSlot = <T>(slow: () => Promise<T>) => Promise<T>

/** Bounds the memory that bodies, received or fetched, take in a process, however many owners send them at once. */
export class BodyMemoryLimiter {
  readonly #options: BodyMemoryLimiterOptions
  readonly #processing: ByteSemaphore
  /** By owner; owners that hold nothing are absent. */
  readonly #heldBy = new Map<string, number>()
  #held = 0

  constructor(options: Partial<BodyMemoryLimiterOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options }
    this.#processing = new ByteSemaphore({ bytes: this.#options.processing, uncounted: SMALL })
  }

  /**
   * Runs the work of one request and counts the bytes of its body as they arrive: bytes that are only announced take no
   * room from other requests.
   * @param owner whose share is limited: the organization, or one name for all unknown callers.
   * @throws ApiError 503 out of `count` when the memory is full, or when this owner's share is.
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
   * Processes a body once there is memory for it.
   * @param gone aborted when the client no longer waits for the answer.
   * @throws ApiError 503 when the memory is not free in time.
   */
  async process<T>(bytes: number, work: (yieldSlot: YieldSlot) => Promise<T>, gone: AbortSignal): Promise<T> {
    let mine = false
    const enter = async (): Promise<void> => {
      await this.#enter(bytes, gone)
      mine = true
    }
    const leave = (): void => {
      if (mine) this.#processing.leave(bytes)
      mine = false
    }
    const yieldSlot: YieldSlot = async (slow) => {
      leave()
      const result = await slow()
      await enter()
      return result
    }
    await enter()
    try {
      return await work(yieldSlot)
    } finally {
      leave()
    }
  }

  async #enter(bytes: number, gone: AbortSignal): Promise<void> {
    try {
      await withTimeLimit(this.#options.waitMs, [gone], (signal) => this.#processing.enter(bytes, signal))
    } catch (error) {
      if (!gone.aborted && error instanceof TimeLimitError)
        throw new ApiError('service_unavailable', { retryAfter: 1, cause: error })
      throw error
    }
  }
}
