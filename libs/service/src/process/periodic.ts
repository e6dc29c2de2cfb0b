import { Wakeup } from '../concurrency/wakeup.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Component } from './component.ts'

export interface PeriodicOptions {
  readonly name: string
  /** Pause between two runs; varied between 75 and 125 % of this value, so that replicas drift apart. */
  readonly everyMs: number
  readonly log: Logger
  /** One run. It should check `stopping` between batches, so that a shutdown need not wait for all of them. */
  readonly work: (stopping: AbortSignal) => Promise<unknown>
}

/**
 * Runs work repeatedly, with a pause in between that a wake-up cuts short. A failed run is logged and retried at the
 * next one.
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

  /** Starts the next run now instead of after the pause. */
  readonly notify = (): void => this.#wakeup.notify()

  async start(): Promise<void> {
    this.#running = this.#run()
  }

  /** Waits for the current run to end. */
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
      await work(signal).catch((error: unknown) => log.warn({ err: error, component: name }, 'periodic job failed'))
    }
  }
}
