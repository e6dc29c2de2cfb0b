import { LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { Identity } from '../../identity/identity.ts'

const RECORD = sql<never, [ids: string[], times: string[]]>(`
with due as (
  select c.id, u.at
    from unnest($1::uuid[], $2::timestamptz[]) as u(id, at) join credentials c on c.id = u.id
   where c.used_at is null or c.used_at < u.at
     for no key update of c skip locked)
update credentials c set used_at = due.at from due where c.id = due.id`)

const FLUSH_AFTER_MS = 1_000

/**
 * Records when keys were last used: at most once a minute per key, in batches, outside of request handling (identity
 * 2.1). A failed write costs a timestamp, never a request. Rows locked by a change of their key are skipped, and two
 * processes that write the same keys in different orders cannot deadlock.
 */
export class KeyUsage implements Component {
  readonly name = 'key usage'
  readonly #db: Queryable
  readonly #log: Logger
  readonly #pending = new Map<string, number>()
  /** When this process last recorded each key; bounded, because entries older than the interval are dropped. */
  #noted = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #swept = 0

  constructor(db: Queryable, log: Logger) {
    this.#db = db
    this.#log = log
  }

  note(identity: Identity): void {
    const now = Date.now()
    if (now - identity.usedAt < LIMITS.apiKey.usedAt) return
    const { id } = identity.credential
    const last = this.#noted.get(id)
    if (last !== undefined && now - last < LIMITS.apiKey.usedAt) return
    this.#forgetOld(now)
    this.#noted.set(id, now)
    this.#pending.set(id, now)
    this.#timer ??= setTimeout(() => void this.#flush(), FLUSH_AFTER_MS)
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#flush()
  }

  async #flush(): Promise<void> {
    this.#timer = undefined
    if (this.#pending.size === 0) return
    const entries = [...this.#pending]
    this.#pending.clear()
    const ids = entries.map(([id]) => id)
    const times = entries.map(([, at]) => new Date(at).toISOString())
    await this.#db.query(RECORD, ids, times).catch((error: unknown) => {
      this.#log.warn({ err: error, keys: ids.length }, 'last use of keys could not be recorded')
    })
  }

  #forgetOld(now: number): void {
    if (now - this.#swept < LIMITS.apiKey.usedAt) return
    this.#swept = now
    this.#noted = new Map([...this.#noted].filter(([, at]) => now - at < LIMITS.apiKey.usedAt))
  }
}
