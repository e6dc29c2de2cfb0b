import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '@restante/service'

/**
 * Does a piece of work again and again, with a pause in between; a failure is logged and tried again at the next turn.
 * Replicas drift apart by a random share of the pause.
 */
export class Ticker {
  readonly #options: { name: string; everyMs: number; log: Logger; work: () => Promise<unknown> }
  readonly #stop = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(options: { name: string; everyMs: number; log: Logger; work: () => Promise<unknown> }) {
    this.#options = options
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Lets the turn that runs come to its end. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { everyMs, log, name, work } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      await wait(everyMs * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      await work().catch((error: unknown) => log.warn({ err: error, part: name }, 'a turn failed'))
    }
  }
}
