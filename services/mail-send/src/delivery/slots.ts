/** Who is let in next, and when. */
interface Queue {
  taken: number
  readonly waiting: (() => void)[]
}

/** Lets no more than so many in for each destination at a time; who comes later waits, for a while. */
export class Slots {
  readonly #most: number
  readonly #patienceMs: number
  readonly #queues = new Map<string, Queue>()

  constructor(most: number, patienceMs: number) {
    this.#most = most
    this.#patienceMs = patienceMs
  }

  /** @returns how to give the slot back, or undefined when none was free within the patience. */
  async take(destination: string): Promise<(() => void) | undefined> {
    const queue = this.#queues.get(destination) ?? { taken: 0, waiting: [] }
    this.#queues.set(destination, queue)
    if (queue.taken >= this.#most && !(await this.#wait(queue))) return undefined
    queue.taken++
    return () => this.#giveBack(destination, queue)
  }

  #giveBack(destination: string, queue: Queue): void {
    queue.taken--
    const next = queue.waiting.shift()
    if (next) next()
    else if (queue.taken === 0) this.#queues.delete(destination)
  }

  #wait(queue: Queue): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => {
      queue.waiting.splice(queue.waiting.indexOf(enter), 1)
      resolve(false)
    }, this.#patienceMs)
    const enter = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    queue.waiting.push(enter)
    return promise
  }
}
