/** How soon who found no place may come back, and how late at most, in milliseconds. */
const SHORTEST_WAIT_MS = 100
const LONGEST_WAIT_MS = 30_000
/** How long a request takes as long as none has ended. */
const UNKNOWN_DURATION_MS = 1_000

interface Lane {
  count: number
  /** Of the last request that ended. */
  durationMs: number
  /** The last turn that was given out. */
  turn: number
}

/**
 * Admits at most a number of requests per key, so that a slow receiver leaves room for others. Who finds no place is
 * given a turn, at the pace at which the receiver answers: a thousand that wait must not all ask again and again.
 */
export class InFlight {
  readonly #most: number
  readonly #lanes = new Map<string, Lane>()

  constructor(most: number) {
    this.#most = most
  }

  /** @returns whether there was a place; who got one must `leave`. */
  enter(key: string): boolean {
    const lane = this.#lanes.get(key)
    if (!lane) {
      this.#lanes.set(key, { count: 1, durationMs: UNKNOWN_DURATION_MS, turn: 0 })
      return true
    }
    if (lane.count >= this.#most) return false
    lane.count++
    return true
  }

  /** @param durationMs how long the place was held. */
  leave(key: string, durationMs: number): void {
    const lane = this.#lanes.get(key)
    if (!lane) return
    lane.count--
    lane.durationMs = durationMs
    if (lane.count === 0) this.#lanes.delete(key)
  }

  /** When who found no place may come back. */
  nextTurn(key: string, now: number): Date {
    const lane = this.#lanes.get(key)
    if (!lane) return new Date(now + SHORTEST_WAIT_MS)
    const turn = Math.max(lane.turn + lane.durationMs / this.#most, now + SHORTEST_WAIT_MS)
    lane.turn = Math.min(turn, now + LONGEST_WAIT_MS)
    // Those beyond the longest wait do not come back all at once.
    return new Date(turn > lane.turn ? now + LONGEST_WAIT_MS * (0.5 + Math.random() / 2) : turn)
  }
}
