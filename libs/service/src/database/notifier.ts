import { randomUUID } from 'node:crypto'
import type { Queryable } from './statement.ts'
import { sql } from './statement.ts'

/** Minimum interval between NOTIFYs of one process: each takes a lock that all committing transactions share. */
const NOTIFY_INTERVAL_MS = 5
const NOTIFY = sql<unknown, [channel: string, origin: string]>('select pg_notify($1, $2)')

/**
 * Signals after a commit that there is work: directly to listeners in this process, otherwise to other processes by
 * NOTIFY, outside the business transaction. It only saves time: every listener polls as well.
 */
export class Notifier {
  /** Distinguishes this notifier's NOTIFYs from those of others. */
  readonly origin: string = randomUUID()
  readonly #db: Queryable
  readonly #channel: string
  readonly #local = new Set<() => void>()
  #due = false
  #timer: NodeJS.Timeout | undefined

  constructor(db: Queryable, channel: string) {
    this.#db = db
    this.#channel = channel
  }

  /** From now on notifications are delivered here directly and are not sent. @returns a function that ends this. */
  attach(notify: () => void): () => void {
    this.#local.add(notify)
    return () => this.#local.delete(notify)
  }

  /** Bound, so that it can be passed to `tx.afterCommit`. */
  readonly notify = (): void => {
    if (this.#local.size > 0) {
      for (const notify of this.#local) notify()
      return
    }
    this.#due = true
    if (!this.#timer) this.#send()
  }

  #send(): void {
    this.#timer = undefined
    if (!this.#due) return
    this.#due = false
    this.#timer = setTimeout(() => this.#send(), NOTIFY_INTERVAL_MS)
    this.#db.query(NOTIFY, this.#channel, this.origin).catch(() => {})
  }
}
