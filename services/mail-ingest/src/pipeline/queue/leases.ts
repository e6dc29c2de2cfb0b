import type { Database } from '@restante/service/database'
import { type Component, Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { type LeasedMail, queue } from './queue.ts'

/** Several renewals fit into one lease, so a single slow one does no harm. */
const RENEW_MS = 3_000
/**
 * Far longer than any attempt, whose steps have time limits. A longer one is stuck: its lease is no longer renewed, so
 * that another worker can take the mail.
 */
const ATTEMPT_MS = 90_000

/**
 * Renews the leases of the mails in progress. Leases are short, so that the mails of a dead process are taken over
 * within seconds, while a slow one keeps its own.
 */
export class Leases implements Component {
  readonly name = 'mail leases'
  readonly #db: Database
  readonly #held = new Map<LeasedMail, number>()
  readonly #job: Periodic

  constructor(options: { db: Database; log: Logger; everyMs?: number }) {
    const { db, log, everyMs = RENEW_MS } = options
    this.#db = db
    this.#job = new Periodic({ name: this.name, everyMs, log, work: () => this.renew() })
  }

  start(): Promise<void> {
    return this.#job.start()
  }

  stop(): Promise<void> {
    return this.#job.stop()
  }

  /** Renews the leases of these mails until `work` has ended. */
  async during<T>(mails: readonly LeasedMail[], work: () => Promise<T>): Promise<T> {
    const until = Date.now() + ATTEMPT_MS
    for (const mail of mails) this.#held.set(mail, until)
    try {
      return await work()
    } finally {
      for (const mail of mails) this.#held.delete(mail)
    }
  }

  /**
   * Renews all leases now. This includes leases that ran out during an outage, unless another worker has taken the
   * mail.
   */
  async renew(): Promise<void> {
    const now = Date.now()
    const held = [...this.#held].flatMap(([mail, until]) => (until > now ? [mail] : []))
    if (held.length > 0) await queue.renew(this.#db, held)
  }
}
