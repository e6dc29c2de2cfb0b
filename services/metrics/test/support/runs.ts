import type { Database } from '@restante/service/database'
import { queryRows } from '@restante/testkit'

/** Runs that do not know what their day has before them: there are none. */
export function misplacedRuns(db: Database): Promise<object[]> {
  return queryRows(
    db,
    `select * from (
       select scope_id, tier, series, day, first_ms, before, coalesce(sum(total) over earlier, 0) as counted
         from (select *, coalesce(sums[cardinality(sums)], cardinality(times)) as total from runs) as stored
       window earlier as (partition by scope_id, tier, series, day order by first_ms, id
                          rows between unbounded preceding and 1 preceding)) as compared
      where before <> counted`,
  )
}
