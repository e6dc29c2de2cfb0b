/** Random values that are the same for the same seed (mulberry32), so that a failure can be reproduced. */
export class Draw {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound)
  }

  /** True with probability `share`: 0 never, 1 always. */
  chance(share: number): boolean {
    return this.below(1_000_000) < share * 1_000_000
  }

  one<T>(choices: readonly T[]): T {
    const chosen = choices.slice(this.below(choices.length))
    for (const choice of chosen) return choice
    throw new Error('there is nothing to choose from')
  }

  /** A list of up to `most` values, each created separately. */
  several<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }
}
