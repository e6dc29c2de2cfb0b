import { retryThroughOutage } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { Db } from './storage/database.ts'
import type { GatewayTimers } from './storage/timers.ts'

const FIRST_AFTER_MS = 60_000

/** Recurring jobs, which reschedule themselves. */
export type RecurringJobKind = 'sweep' | 'pending-sign-in-keys' | 'inactive-organizations'

export interface RecurringJobsOptions {
  readonly timers: GatewayTimers
  readonly db: Db
  readonly log: Logger
  readonly kinds: readonly RecurringJobKind[]
}

/**
 * Schedules each recurring job unless it is scheduled: if each starting process postponed it, a process that restarts
 * again and again would keep it from ever being due. A process that starts while the database is down serves what it
 * can until then.
 */
export class RecurringJobs implements Component {
  readonly name = 'recurring jobs'
  readonly #options: RecurringJobsOptions
  readonly #stop = new AbortController()
  #scheduling: Promise<void> = Promise.resolve()

  constructor(options: RecurringJobsOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    this.#scheduling = retryThroughOutage(this.#stop.signal, () => this.#schedule()).catch((error: unknown) =>
      this.#options.log.error({ err: error }, 'recurring jobs could not be scheduled'),
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
