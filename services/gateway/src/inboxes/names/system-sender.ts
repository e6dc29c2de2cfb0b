import { type Queryable, retryThroughOutage, sql } from '@restante/service/database'
import { isInfrastructureError } from '@restante/service/errors'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'

const IS_INBOX = sql<{ one: number }, [address: string]>(
  'select 1 as one from inboxes where address = $1 and deleted_at is null',
)

export interface SystemSenderCheckOptions {
  readonly db: Queryable
  /** Sender of the installation's own mail. */
  readonly address: string
  readonly log: Logger
}

/**
 * Refuses to start while the address of the installation's own mail is a live inbox: its holder could send what looks
 * like the installation's mail, and read the answers to it. The address is reserved, so such an inbox is older than the
 * configuration. If the database is down at the start, the check is made later, and the process takes no requests when
 * it fails.
 */
export class SystemSenderCheck implements Component {
  readonly name = 'system sender'
  readonly #options: SystemSenderCheckOptions
  readonly #stop = new AbortController()
  #checking: Promise<void> = Promise.resolve()
  #problem: Error | undefined

  constructor(options: SystemSenderCheckOptions) {
    this.#options = options
  }

  async start(): Promise<void> {
    try {
      await this.#check()
    } catch (error) {
      if (!isInfrastructureError(error)) throw error
      this.#checking = this.#checkLater()
    }
  }

  async ready(): Promise<void> {
    if (this.#problem !== undefined) throw this.#problem
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#checking
  }

  async #check(): Promise<void> {
    const { db, address } = this.#options
    if ((await db.query(IS_INBOX, address)).length === 0) return
    throw new Error(`${address} is an inbox: delete it, or set another sender with SYSTEM_SENDER`)
  }

  async #checkLater(): Promise<void> {
    try {
      await retryThroughOutage(this.#stop.signal, () => this.#check())
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#problem = error instanceof Error ? error : new Error(String(error))
      this.#options.log.error({ err: error }, 'system sender check failed')
    }
  }
}
