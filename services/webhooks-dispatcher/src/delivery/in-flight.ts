/** Counts what is under way per key and admits at most a number of each, so that a slow one leaves room for others. */
export class InFlight {
  readonly #most: number
  readonly #counts = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** @returns whether there was a place; who got one must `leave`. */
  enter(key: string): boolean {
    const count = this.#counts.get(key) ?? 0
    if (count >= this.#most) return false
    this.#counts.set(key, count + 1)
    return true
  }

  leave(key: string): void {
    const count = this.#counts.get(key) ?? 0
    if (count <= 1) this.#counts.delete(key)
    else this.#counts.set(key, count - 1)
  }
}
