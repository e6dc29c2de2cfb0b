/**
 * Lets work on one key run one after the other within this process. The database's lock is what decides between
 * processes; this keeps a crowd that waits for the same lock from holding every connection of the pool meanwhile.
 */
export class Turns {
  readonly #tails = new Map<string, Promise<unknown>>()

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.#tails.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#tails.get(key) === turn) this.#tails.delete(key)
    }
  }
}
