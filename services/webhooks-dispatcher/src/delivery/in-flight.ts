/** Minimum and maximum delay, in milliseconds, before a delivery that found no free slot is retried. */
const SHORTEST_WAIT_MS = 100
const LONGEST_WAIT_MS = 30_000
/** Assumed duration of a request until the first one has ended. */
const UNKNOWN_DURATION_MS = 1_000

interface Receiver {
  count: number
  /** Of the request that ended last. */
  durationMs: number
  /** The latest retry time that was assigned. */
  retryAtMs: number
}

/**
 * Limits the concurrent requests per key, so that a slow receiver leaves capacity for others. A delivery that finds no
 * free slot is assigned a retry time, at the rate at which the receiver answers: a thousand waiting deliveries must not
 * all retry continuously.
 */
export class InFlight {
  readonly #maxPerKey: number
  readonly #receivers = new Map<string, Receiver>()

  constructor(maxPerKey: number) {
    this.#maxPerKey = maxPerKey
  }

  /** @returns whether a slot was free; if so, `leave` must be called. */
  enter(key: string): boolean {
    const receiver = this.#receivers.get(key)
    if (!receiver) {
      this.#receivers.set(key, { count: 1, durationMs: UNKNOWN_DURATION_MS, retryAtMs: 0 })
      return true
    }
    if (receiver.count >= this.#maxPerKey) return false
    receiver.count++
    return true
  }

  /** @param durationMs how long the slot was held. */
  leave(key: string, durationMs: number): void {
    const receiver = this.#receivers.get(key)
    if (!receiver) return
    receiver.count--
    receiver.durationMs = durationMs
    if (receiver.count === 0) this.#receivers.delete(key)
  }

  /** When a delivery that found no slot may be retried. */
  retryAt(key: string, now: number): Date {
    const receiver = this.#receivers.get(key)
    if (!receiver) return new Date(now + SHORTEST_WAIT_MS)
    const retryAtMs = Math.max(receiver.retryAtMs + receiver.durationMs / this.#maxPerKey, now + SHORTEST_WAIT_MS)
    receiver.retryAtMs = Math.min(retryAtMs, now + LONGEST_WAIT_MS)
    // Deliveries beyond the longest wait are spread, so that they are not all retried at once.
    return new Date(retryAtMs > receiver.retryAtMs ? now + LONGEST_WAIT_MS * (0.5 + Math.random() / 2) : retryAtMs)
  }
}
