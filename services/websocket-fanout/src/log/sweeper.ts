import { LIMITS } from '@restante/contracts'
import type { Logger, Part } from '@restante/service'
import type { Db } from '../database.ts'
import { deleteEntriesBefore } from './store.ts'

const EVERY_MS = 60_000
const BATCH = 1_000

/** Keeps the log at a day: content must not stay here longer. */
export class LogSweeper implements Part {
  readonly name = 'stream log sweeper'
  readonly #db: Db
  readonly #log: Logger
  #timer: NodeJS.Timeout | undefined
  #sweeping: Promise<void> = Promise.resolve()

  constructor(options: { db: Db; log: Logger }) {
    this.#db = options.db
    this.#log = options.log
  }

  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      this.#sweeping = this.#sweep()
    }, EVERY_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    const moment = new Date(Date.now() - LIMITS.stream.log)
    try {
      while ((await deleteEntriesBefore(this.#db, moment, BATCH)) === BATCH) {
        // More of them are old enough.
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'old entries of the stream log stay until the next sweep')
    }
  }
}
