import { type Queryable, type Statement, sql } from '@restante/service/database'
import { codeOf, DAY_MS, dayOf, type Point, TIER_CODES } from './series.ts'

/** Tables of points that are not settled: those that readers see, those of a rebuild that runs, and those that one keeps. */
export type PointTable = 'arrivals' | 'rebuilt' | 'adjustments'

type Columns = [
  scopeIds: readonly string[],
  tiers: readonly number[],
  series: readonly number[],
  days: readonly number[],
  times: readonly number[],
  values: readonly number[],
]

/** Points of one series and day, in order, as a row: times, and where a value is not one, the running sums. */
export const POINTS_AS_ROWS = `
       min(ms), max(ms), array_agg(ms order by ms, n),
       case when bool_and(value = 1) then '{}' else array_agg(running order by ms, n) end`

/** The sum of the points of a row. */
export const SUM_OF_ROW = 'coalesce(sums[cardinality(sums)], cardinality(times))'

function insertInto(table: PointTable): Statement<never, Columns> {
  return sql(`
insert into ${table} (scope_id, tier, series, day, first_ms, last_ms, times, sums)
select scope_id, tier, series, day, ${POINTS_AS_ROWS}
  from (select *, sum(value) over (partition by scope_id, tier, series, day order by ms, n)::bigint as running
          from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::int[], $5::int[], $6::bigint[])
               with ordinality as point (scope_id, tier, series, day, ms, value, n)) as points
 group by scope_id, tier, series, day`)
}

const INSERT = {
  arrivals: insertInto('arrivals'),
  rebuilt: insertInto('rebuilt'),
  adjustments: insertInto('adjustments'),
}

/** Adds points: one row for each series and day among them. Points of zero change nothing and are left out. */
export async function addPoints(
  tx: Queryable,
  points: readonly Point[],
  table: PointTable = 'arrivals',
): Promise<void> {
  const counted = points.filter(({ value }) => value !== 0)
  if (counted.length === 0) return
  await tx.query(
    INSERT[table],
    counted.map(({ scope }) => scope.id),
    counted.map(({ scope }) => TIER_CODES[scope.tier]),
    counted.map(({ series }) => codeOf(series)),
    counted.map(({ at }) => dayOf(at)),
    counted.map(({ at }) => at - dayOf(at) * DAY_MS),
    counted.map(({ value }) => value),
  )
}

/** Has rebuilds keep points that were added: no event of a topic carries them. */
export function addAdjustments(tx: Queryable, points: readonly Point[]): Promise<void> {
  return addPoints(tx, points, 'adjustments')
}
