import { setImmediate as nextTurn } from 'node:timers/promises'
import { tooWide } from './window.ts'

/** So long, in milliseconds, one request may compute until others get their turn. */
const STRETCH_MS = 10

/** So long, in milliseconds, one request may compute in all. What is asked for takes a hundredth of it. */
const MOST_MS = 3_000

/** Lets other requests have their turn during long computations, and ends those that are too long. */
export class Pace {
  readonly #most: number
  #since = performance.now()
  #computed = 0

  /** @param most milliseconds in all. */
  constructor(most = MOST_MS) {
    this.#most = most
  }

  /** Whether others have waited long enough; then `pause` is due. */
  get isOver(): boolean {
    return performance.now() - this.#since > STRETCH_MS
  }

  /** @throws ApiError 400 when the request has computed for too long. */
  async pause(): Promise<void> {
    this.#computed += performance.now() - this.#since
    if (this.#computed > this.#most) throw tooWide('There is too much in the window; ask for a narrower one')
    await nextTurn()
    this.#since = performance.now()
  }
}
