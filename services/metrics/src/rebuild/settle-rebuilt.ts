import { type Database, sql } from '@restante/service/database'
import { POINTS_AS_ROWS } from '../series/add.ts'
import { excludeSettling } from '../series/delete.ts'
import { EVENT_SERIES } from '../series/series.ts'
import { divided } from '../series/settle.ts'

/** Series and days that one transaction settles. */
const BATCH = 500

type Key = [scopeId: string, tier: number, series: number, day: number]
interface KeyRow {
  readonly scope_id: string
  readonly tier: number
  readonly series: number
  readonly day: number
}

const NEXT = sql<KeyRow, [...Key, limit: number]>(`
select distinct scope_id, tier, series, day from rebuilt
 where (scope_id, tier, series, day) > ($1::uuid, $2::smallint, $3::smallint, $4::int)
 order by scope_id, tier, series, day limit $5`)

const SETTLE = sql<
  never,
  [from: string, fromTier: number, fromSeries: number, fromDay: number, ...until: Key, events: readonly number[]]
>(`
with moved as (
  delete from rebuilt
   where (scope_id, tier, series, day) > ($1::uuid, $2::smallint, $3::smallint, $4::int)
     and (scope_id, tier, series, day) <= ($5::uuid, $6::smallint, $7::smallint, $8::int)
  returning scope_id, tier, series, day, times, sums),
points as (
  select scope_id, tier, series, day, point.ms,
         case when sums = '{}' then 1 else sums[point.n] - coalesce(sums[point.n - 1], 0) end as value
    from moved cross join lateral unnest(times) with ordinality as point (ms, n)),${divided('$9')}
insert into rebuilt (scope_id, tier, series, day, first_ms, last_ms, times, sums, before, settled)
select scope_id, tier, series, day, ${POINTS_AS_ROWS}, min(total - running), true
  from summed group by scope_id, tier, series, day, run
 order by scope_id, tier, series, day, run`)

const FIRST: Key = ['00000000-0000-0000-0000-000000000000', 0, 0, 0]

/**
 * Divides the points of a rebuild into rows like those of settled runs, so that the switch only moves them. What arrives
 * later stays unsettled, as live points do.
 */
export async function settleRebuilt(db: Database, stopping: AbortSignal): Promise<void> {
  for (let after = FIRST; !stopping.aborted; ) {
    const next = await db.transaction(async (tx): Promise<Key | undefined> => {
      // The purge would miss rows that are replaced while it deletes them.
      await excludeSettling(tx)
      const groups = await tx.query(NEXT, ...after, BATCH)
      const last = groups.at(-1)
      if (last === undefined) return undefined
      const until: Key = [last.scope_id, last.tier, last.series, last.day]
      await tx.query(SETTLE, ...after, ...until, [...EVENT_SERIES])
      return until
    })
    if (next === undefined) return
    after = next
  }
}
