import { pause } from '@restante/service/concurrency'
import { type Queryable, sql } from '@restante/service/database'

/** Delays queries so that they keep to a rate. */
export interface Pace {
  /** Resolves when so many queries may be sent; rejects when they were not wanted any more before that. */
  take(queries: number, signal: AbortSignal): Promise<void>
}

/**
 * Appends queries to those that all processes have planned. The clock of the database decides, so that processes whose
 * clocks differ share one plan. `$1` is the time that the queries take, in milliseconds.
 */
const RESERVE = sql<{ wait: number }, [ms: number]>(`
  insert into query_pace (id, free_at) values (1, clock_timestamp() + $1::float8 * interval '1 millisecond')
  on conflict (id) do update
  set free_at = greatest(query_pace.free_at, clock_timestamp()) + $1::float8 * interval '1 millisecond'
  returning greatest(0, extract(epoch from free_at - clock_timestamp()) * 1000 - $1::float8)::float8 as wait`)

/**
 * One rate for all processes of the service. Queries are spread evenly, without bursts. A process that dies leaves at
 * most the time that it had reserved unused.
 */
export class SharedPace implements Pace {
  readonly #db: Queryable
  readonly #spacingMs: number

  /** @param perSecond queries of all processes together. */
  constructor(db: Queryable, perSecond: number) {
    this.#db = db
    this.#spacingMs = 1_000 / perSecond
  }

  async take(queries: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const [reserved] = await this.#db.query(RESERVE, queries * this.#spacingMs)
    await pause(reserved?.wait ?? 0, signal)
    signal.throwIfAborted()
  }
}
