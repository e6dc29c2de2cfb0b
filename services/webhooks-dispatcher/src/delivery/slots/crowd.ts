/** How long a delivery of a crowd waits at most, in milliseconds: of a small one, and of any. */
const [USUAL_WAIT_MS, LONGEST_WAIT_MS] = [30_000, 30 * 60_000]
/** Deliveries of a crowd that come back each second, though there is no slot: each costs a turn in the queue, which all share. */
const RETURNS_PER_SECOND = 100

/**
 * Deliveries to one receiver that are too many for a time of their own each. The more there are, the longer they wait, as
 * otherwise the tries of a great crowd would keep the queue from everything else.
 */
export class Crowd {
  /** In a round each delivery comes back about once, so that as many are in the crowd as are counted in one. */
  #roundEndsAt = Number.NEGATIVE_INFINITY
  #roundMs = 0
  #counted = 0
  #countedBefore = 0

  /**
   * Counts a delivery that has come, or come back.
   * @param perSecond how many the receiver could take: so many may come back in any case.
   * @returns how long it waits, in milliseconds; not all the same, so that they do not come back at once.
   */
  waitMs(now: number, perSecond: number): number {
    if (now >= this.#roundEndsAt) {
      const isGone = now >= this.#roundEndsAt + this.#roundMs
      this.#countedBefore = isGone ? 0 : this.#counted
      this.#counted = 0
      this.#roundMs = this.#mostMs(perSecond)
      this.#roundEndsAt = now + this.#roundMs
    }
    this.#counted++
    return this.#mostMs(perSecond) * (0.5 + Math.random() / 2)
  }

  #mostMs(perSecond: number): number {
    const deliveries = Math.max(this.#counted, this.#countedBefore)
    const evenMs = (deliveries / Math.max(perSecond, RETURNS_PER_SECOND)) * 1_000
    return Math.min(Math.max(evenMs, USUAL_WAIT_MS), LONGEST_WAIT_MS)
  }
}
