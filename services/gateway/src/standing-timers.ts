import { type Component, type Logger, retryThroughOutage } from '@restante/service'
import type { Db } from './database.ts'
import type { GatewayTimers } from './timers.ts'

const FIRST_AFTER_MS = 60_000

/** Work that sets itself anew each time. */
export type StandingKind = 'sweep' | 'inactive-organizations'

export interface StandingTimersOptions {
  readonly timers: GatewayTimers
  readonly db: Db
  readonly log: Logger
  readonly kinds: readonly StandingKind[]
}

/**
 * Sets the one timer of each kind of standing work where there is none yet: if each process that starts put it off, a
 * process that starts again and again would keep it from ever being due. One that starts while the database is away
 * serves what it can meanwhile.
 */
export class StandingTimers implements Component {
  readonly name = 'standing timers'
  readonly #options: StandingTimersOptions
  readonly #stop = new AbortController()
  #scheduling: Promise<void> = Promise.resolve()

  constructor(options: StandingTimersOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    this.#scheduling = retryThroughOutage(this.#stop.signal, () => this.#schedule()).catch((error: unknown) =>
      this.#options.log.error({ err: error }, 'standing work was not scheduled'),
    )
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#scheduling
  }

  #schedule(): Promise<void> {
    const { db, timers, kinds } = this.#options
    const dueAt = new Date(Date.now() + FIRST_AFTER_MS)
    return db.transaction(async (tx) => {
      for (const kind of kinds) await timers.scheduleIfMissing(tx, { kind, key: 'all', dueAt, payload: {} })
    })
  }
}
