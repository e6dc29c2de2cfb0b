import type { Logger } from '../telemetry/logger.ts'
import type { Component } from './component.ts'
import { Wakeup } from './wakeup.ts'

export interface PeriodicOptions {
  readonly name: string
  /** Pause between two turns; each is between three and five quarters of it, so that replicas drift apart. */
  readonly everyMs: number
  readonly log: Logger
  /** One turn. It should look at `stopping` between batches, so that a shutdown need not wait for all of them. */
  readonly work: (stopping: AbortSignal) => Promise<unknown>
}

/**
 * Does a piece of work again and again, with a pause in between that a ring cuts short. A failed turn is logged and the
 * next one tries again.
 */
export class Periodic implements Component {
  readonly name: string
  readonly #options: PeriodicOptions
  readonly #wakeup = new Wakeup()
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: PeriodicOptions) {
    this.name = options.name
    this.#options = options
  }

  /** Begins the next turn now instead of after the pause. */
  readonly notify = (): void => this.#wakeup.notify()

  async start(): Promise<void> {
    this.#running = this.#run()
  }

  /** Lets the turn that runs come to its end. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wakeup.notify()
    await this.#running
  }

  async #run(): Promise<void> {
    const { everyMs, log, name, work } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#wakeup.wait(everyMs * (0.75 + Math.random() / 2))
      if (signal.aborted) return
      await work(signal).catch((error: unknown) =>
        log.warn({ err: error, part: name }, 'a turn failed; the next one tries again'),
      )
    }
  }
}
