import { type Queryable, sql } from '@restante/service'
import { CHANNEL } from './tail.ts'

/** NOTIFY takes a lock that all committing transactions share, so it is sent at most this often. */
const INTERVAL_MS = 5
const notify = sql<unknown>(`select pg_notify('${CHANNEL}', '')`)

/** Tells every instance that the log has grown. Losing an announcement costs one poll interval and nothing else. */
export class Announcer {
  readonly #db: Queryable
  #pending = false
  #timer: NodeJS.Timeout | undefined

  constructor(db: Queryable) {
    this.#db = db
  }

  readonly announce = (): void => {
    this.#pending = true
    if (!this.#timer) this.#send()
  }

  #send(): void {
    this.#timer = undefined
    if (!this.#pending) return
    this.#pending = false
    this.#timer = setTimeout(() => this.#send(), INTERVAL_MS)
    this.#timer.unref()
    this.#db.query(notify).catch(() => {})
  }
}
