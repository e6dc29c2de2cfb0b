/** Counts who is at work for each destination, and lets no more than so many in. */
export class Slots {
  readonly #most: number
  readonly #taken = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** @returns how to give the slot back, or undefined when none is free. */
  take(destination: string): (() => void) | undefined {
    const taken = this.#taken.get(destination) ?? 0
    if (taken >= this.#most) return undefined
    this.#taken.set(destination, taken + 1)
    return () => this.#giveBack(destination)
  }

  #giveBack(destination: string): void {
    const left = (this.#taken.get(destination) ?? 1) - 1
    if (left > 0) this.#taken.set(destination, left)
    else this.#taken.delete(destination)
  }
}
