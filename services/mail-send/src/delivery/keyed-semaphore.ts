/** Who is let in next, and when. */
interface Queue {
  taken: number
  readonly waiting: (() => void)[]
}

export interface SlotsOptions {
  /** Let in for each destination at a time. */
  readonly most: number
  /** Waiting for all destinations together, so that a slow one with a long queue leaves room for the others. */
  readonly mostWaiting: number
  readonly patienceMs: number
}

/** Lets no more than so many in for each destination at a time; who comes later waits, for a while. */
export class KeyedSemaphore {
  readonly #options: SlotsOptions
  readonly #queues = new Map<string, Queue>()
  #waiting = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /** @returns how to give the slot back, or undefined when none was free within the patience, or too many wait. */
  async take(destination: string): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(destination) ?? { taken: 0, waiting: [] }
    this.#queues.set(destination, queue)
    if (queue.taken < this.#options.most) queue.taken++
    else if (this.#waiting >= this.#options.mostWaiting || !(await this.#wait(queue))) return undefined
    return () => this.#giveBack(destination, queue)
  }

  #giveBack(destination: string, queue: Queue): void {
    const next = queue.waiting.shift()
    // The slot goes over without ever being free: whoever comes in between must not get it too.
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
    }, this.#options.patienceMs)
    const enter = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    queue.waiting.push(enter)
    this.#waiting++
    return promise.finally(() => this.#waiting--)
  }
}
