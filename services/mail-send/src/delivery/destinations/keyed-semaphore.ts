/** Waiting callers of one destination, in order. */
interface Queue {
  taken: number
  /** As the last caller said. */
  most: number
  readonly waiting: (() => void)[]
}

export interface KeyedSemaphoreOptions {
  /**
   * Most callers waiting for all destinations together, so that a slow one with a long queue leaves room for the
   * others.
   */
  readonly mostWaiting: number
  readonly maxWaitMs: number
}

/** Per-destination semaphore with a bounded wait. */
export class KeyedSemaphore {
  readonly #options: KeyedSemaphoreOptions
  readonly #queues = new Map<string, Queue>()
  #waiting = 0

  constructor(options: KeyedSemaphoreOptions) {
    this.#options = options
  }

  /**
   * @param most slots of the destination; when there are fewer than before, those that are taken run out.
   * @returns the function that releases the slot, or undefined when none was free in time, or too many are waiting.
   */
  async take(destination: string, most: number): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(destination) ?? { taken: 0, most, waiting: [] }
    this.#queues.set(destination, queue)
    queue.most = most
    if (queue.taken < most) queue.taken++
    else if (this.#waiting >= this.#options.mostWaiting || !(await this.#wait(queue))) return undefined
    return () => this.#giveBack(destination, queue)
  }

  #giveBack(destination: string, queue: Queue): void {
    const next = queue.taken <= queue.most ? queue.waiting.shift() : undefined
    // The slot is handed over without being released: a concurrent caller must not get it too.
    if (next) {
      next()
      return
    }
    queue.taken--
    if (queue.taken === 0) this.#queues.delete(destination)
  }

  /** @returns whether a slot was handed over. */
  async #wait(queue: Queue): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => {
      queue.waiting.splice(queue.waiting.indexOf(enter), 1)
      resolve(false)
    }, this.#options.maxWaitMs)
    const enter = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    queue.waiting.push(enter)
    this.#waiting++
    return promise.finally(() => this.#waiting--)
  }
}
