import { type Database, sql } from '@restante/service/database'
import { Periodic } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { DAY_MS } from './series.ts'
import { arrivals, oldestArrival } from './telemetry.ts'

const EVERY_MS = 30_000

/** Rows among which the oldest point is looked for, those that wait longest. */
const LOOKED_AT = 1_000

// There may be millions, so they are not counted: PostgreSQL keeps their number, but for the changes of the last ten seconds.
const WAITING = sql<{ rows: number; oldest: number | null }>(`
select pg_stat_get_live_tuples('arrivals'::regclass)::float8 as rows,
       (select min(day * ${DAY_MS}::bigint + first_ms)
          from (select day, first_ms from arrivals order by id limit ${LOOKED_AT}) as longest)::float8 as oldest`)

/** Measures how much waits to be settled. */
export class ArrivalsGauge extends Periodic {
  readonly #db: Database

  constructor({ db, log }: { readonly db: Database; readonly log: Logger }) {
    super({ name: 'arrivals gauge', everyMs: EVERY_MS, log, work: () => this.measure() })
    this.#db = db
  }

  async measure(): Promise<void> {
    const [waiting] = await this.#db.query(WAITING)
    arrivals.set(waiting?.rows ?? 0)
    const oldest = waiting?.oldest ?? null
    oldestArrival.set(oldest === null ? 0 : Math.max(Date.now() - oldest, 0) / 1_000)
  }
}
