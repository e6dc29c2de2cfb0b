import { type Queryable, sql } from '@restante/service'

export const CHANNEL = 'restante_outbox'

/** Most NOTIFYs that one process sends: each one takes a lock that all committing transactions share. */
const NOTIFY_INTERVAL_MS = 5

const NOTIFY = sql(`select pg_notify('${CHANNEL}', '')`)

/**
 * Tells the leading relay that events were committed. Only a speed-up: the relay looks by itself every 50 ms, so a
 * lost notification costs that much and nothing else.
 */
export class Notifier {
  readonly #db: Queryable
  readonly #local = new Set<() => void>()
  #due = false
  #timer: NodeJS.Timeout | undefined

  constructor(db: Queryable) {
    this.#db = db
  }

  attach(ring: () => void): () => void {
    this.#local.add(ring)
    return () => this.#local.delete(ring)
  }

  readonly notify = (): void => {
    if (this.#local.size > 0) {
      for (const ring of this.#local) ring()
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
    this.#db.query(NOTIFY).catch(() => {})
  }
}
