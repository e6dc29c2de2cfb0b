/** How long queries are gathered before they are sent together, in milliseconds. */
const GATHERED_MS = 100
/** Most waiting queries. */
const MOST_WAITING = 200

export interface SharedLookupOptions<Answer> {
  /** Finds the results of several queries at once. */
  readonly find: (questions: readonly string[]) => Promise<ReadonlyMap<string, Answer>>
}

/**
 * Look-ups for clients that have sent too many bad keys: gathered for a moment and made with one query, of which there
 * are at most ten a second, however many clients ask. So a flood of bad keys costs next to nothing, while a good key
 * from the same address still finds its holder.
 */
export class SharedLookup<Answer> {
  readonly #find: SharedLookupOptions<Answer>['find']
  #waiting = new Map<string, PromiseWithResolvers<Answer | undefined>>()

  constructor({ find }: SharedLookupOptions<Answer>) {
    this.#find = find
  }

  /**
   * The result of a query; undefined when there is none, and without a query when too many others wait.
   * @throws what the query throws.
   */
  ask(question: string): Promise<Answer | undefined> {
    const known = this.#waiting.get(question)
    if (known !== undefined) return known.promise
    if (this.#waiting.size >= MOST_WAITING) return Promise.resolve(undefined)
    if (this.#waiting.size === 0) setTimeout(() => void this.#answer(), GATHERED_MS)
    const asked = Promise.withResolvers<Answer | undefined>()
    this.#waiting.set(question, asked)
    return asked.promise
  }

  /** Never rejects: an error is passed to the callers. */
  async #answer(): Promise<void> {
    const waiting = this.#waiting
    this.#waiting = new Map()
    try {
      const found = await this.#find([...waiting.keys()])
      for (const [question, { resolve }] of waiting) resolve(found.get(question))
    } catch (error) {
      for (const { reject } of waiting.values()) reject(error)
    }
  }
}
