import type { Logger } from '@restante/service'
import { Bell } from './bell.ts'

export interface TickerOptions {
  readonly name: string
  readonly everyMs: number
  readonly log: Logger
  readonly work: () => Promise<unknown>
}

/**
 * Does a piece of work again and again, with a pause in between that a ring cuts short; a failure is logged and tried
 * again at the next turn. Replicas drift apart by a random share of the pause.
 */
export class Ticker {
  readonly #options: TickerOptions
  readonly #bell = new Bell()
  #stopping = false
  #running: Promise<void> = Promise.resolve()

  constructor(options: TickerOptions) {
    this.#options = options
  }

  get stopping(): boolean {
    return this.#stopping
  }

  start(): void {
    this.#running = this.#run()
  }

  ring(): void {
    this.#bell.ring()
  }

  /** Lets the turn that runs come to its end. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#bell.ring()
    await this.#running
  }

  async #run(): Promise<void> {
    const { everyMs, log, name, work } = this.#options
    while (!this.#stopping) {
      await this.#bell.wait(everyMs * (0.75 + Math.random() / 2))
      if (this.#stopping) return
      await work().catch((error: unknown) => log.warn({ err: error, part: name }, 'a turn failed'))
    }
  }
}
