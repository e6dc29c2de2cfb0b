import type { Outcome, Verdict } from '../outcome/outcome.ts'
import { RecentMap } from './recent-map.ts'

/** `421` (closing the channel), `450 4.2.1`, and policies (`4.7.x`): how servers say that this is too much at once. */
export function asksToSlowDown({ kind, verdict }: Outcome): boolean {
  return kind === 'deferred' && verdict.mta !== undefined && isAboutRate(verdict)
}

function isAboutRate({ status, text }: Verdict): boolean {
  return status.startsWith('4.7.') || status === '4.2.1' || text.startsWith('421')
}

/**
 * Concurrency per destination. A server that asks to slow down gets one message at a time; each that it takes then
 * allows one more.
 */
export class Throttles {
  readonly #most: number
  readonly #slowed = new RecentMap<number>()

  /** @param most concurrency at destinations with none of their own. */
  constructor(most: number) {
    this.#most = most
  }

  /** How many attempts may be in progress at a destination. */
  limit(destination: string, most = this.#most): number {
    return this.#slowed.get(destination) ?? most
  }

  /** Learns from the outcomes of an attempt, in their order. */
  learn(destination: string, outcomes: readonly Outcome[], most = this.#most): void {
    for (const outcome of outcomes) {
      if (asksToSlowDown(outcome)) this.#slowed.set(destination, 1)
      else if (outcome.kind === 'delivered') this.#recover(destination, most)
    }
  }

  #recover(destination: string, most: number): void {
    const limit = this.#slowed.get(destination)
    if (limit === undefined) return
    if (limit + 1 >= most) this.#slowed.delete(destination)
    else this.#slowed.set(destination, limit + 1)
  }
}
