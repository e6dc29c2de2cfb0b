import { setImmediate as nextTurn } from 'node:timers/promises'

/** So long, in milliseconds, one request may compute until others get their turn. */
const STRETCH_MS = 10

/** Lets other requests have their turn during long computations. */
export class Pace {
  #since = performance.now()

  /** Whether others have waited long enough; then `pause` is due. */
  get isOver(): boolean {
    return performance.now() - this.#since > STRETCH_MS
  }

  async pause(): Promise<void> {
    await nextTurn()
    this.#since = performance.now()
  }
}
