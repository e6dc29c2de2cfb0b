import { type Queryable, sql, sqlUnprepared } from '@restante/service/database'
import { dayOf } from './series.ts'

/** The points of a series of a scope on a day. */
export interface Group {
  readonly scope_id: string
  readonly tier: number
  readonly series: number
  readonly day: number
}

/** Rows of a series and a day that are settled at once. */
const ENOUGH = 16

const LAST_ID = sql<{ id: number }>('select last_value::float8 as id from arrivals_id_seq')
// Planned each time: what is new is a small part of the table, or all of it.
const DUE = sqlUnprepared<Group, [after: number, limit: number]>(`
select scope_id, tier, series, day
  from (select distinct scope_id, tier, series, day from arrivals where id > $1::float8::bigint) as fresh
 cross join lateral (
   select count(*) as rows from arrivals as a
    where (a.scope_id, a.tier, a.series, a.day) = (fresh.scope_id, fresh.tier, fresh.series, fresh.day)) as waiting
 where rows >= ${ENOUGH} or day < extract(epoch from now() at time zone 'utc')::bigint / 86400
 order by rows desc
 limit $2`)

/**
 * Finds what is due to be settled: series and days of which enough rows arrived, and all of days that are over. Only those to
 * which something was added are looked at, as most rows wait for the end of their day; when a day ends all of them are.
 */
export class DueGroups {
  #day = 0
  #after = 0
  #seen = 0

  /** @returns at most `limit`, those with most rows first; until there are fewer, the next call returns more. */
  async list(on: Queryable, limit: number): Promise<Group[]> {
    const day = dayOf(Date.now())
    if (day !== this.#day) [this.#after, this.#seen] = [0, 0]
    const [last] = await on.query(LAST_ID)
    const groups = await on.query(DUE, this.#after, limit)
    if (groups.length === limit) return groups
    // What the last call has seen is seen again: a transaction may have committed after those with higher ids.
    this.#day = day
    this.#after = this.#seen
    this.#seen = last?.id ?? 0
    return groups
  }
}
