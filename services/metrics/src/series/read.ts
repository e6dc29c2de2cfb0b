import { type Queryable, sql } from '@restante/service/database'
import { codeOf, DAY_MS, dayOf, type Scope, type SeriesName, TIER_CODES } from './series.ts'

/** A range of time in equal periods, in milliseconds since 1970: from `from` on and before `to`. */
export interface Grid {
  readonly from: number
  readonly to: number
  readonly period: number
}

/** The sum of the points of one period: period `index` begins `index` periods after `from`. */
export interface PeriodSum {
  readonly index: number
  readonly sum: number
}

type Range = [
  scopeId: string,
  tier: number,
  series: readonly number[],
  firstDay: number,
  lastDay: number,
  from: number,
  to: number,
]

// Runs and arrivals that have a point in the range, with the first and the last of its milliseconds that they can be about.
const PARTS = `
parts as not materialized (
  select *, greatest(base + first_ms, $6::bigint) as low, least(base + last_ms, $7::bigint - 1) as high
    from (select series, day * ${DAY_MS}::bigint as base, first_ms, last_ms, times, sums from runs
           where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day between $4::int and $5::int
          union all
          select series, day * ${DAY_MS}::bigint, first_ms, last_ms, times, sums from arrivals
           where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day between $4::int and $5::int) as stored
   where base + first_ms < $7::bigint and base + last_ms >= $6::bigint)`

/** The sum of the first `n` points of a part. */
const summed = (n: string) => `case when sums = '{}' then ${n} else coalesce(sums[${n}], 0) end`
/** How many points of a part are before a time in its day. The times are in order, so this is a binary search. */
const before = (time: string) => `width_bucket((${time} - base - 1)::int, times)`
const untilEnd = `case when index = last and base + last_ms < $7::bigint then cardinality(times)
                       else ${before('least($6::bigint + (index + 1) * $8::bigint, $7::bigint)')} end`
const untilBegin = `case when index = first and base + first_ms >= $6::bigint then 0
                         else ${before('greatest($6::bigint + index * $8::bigint, base)')} end`

// One pass over wide rows, which nothing may sort, hash or keep: of each, narrow ones are made first. A part is searched for
// the bounds of its periods where it has more points than periods, and read where it has fewer. One that lies in one period
// needs neither. Sums are exact as floats, and cheaper. Of a day whose runs are dropped the running total is left, as a point
// at its end.
const SUMS = sql<{ series: number; found: readonly [index: number, sum: number][] }, [...Range, period: number]>(`
with ${PARTS},
placed as (
  select *, (low - $6::bigint) / $8::bigint as first, (high - $6::bigint) / $8::bigint as last from parts),
opened as (
  select *, last - first < cardinality(times) as searched,
         generate_series(1, least(cardinality(times), last - first + 1))::int as n
    from placed),
indexed as (
  select *, case when searched then first + n - 1 else (base + times[n] - $6::bigint) / $8::bigint end as index
    from opened where searched or base + times[n] between low and high),
sums as (
  select series, index,
         (case when searched then (${summed(untilEnd)}) - (${summed(untilBegin)})
               when sums = '{}' then 1
               else sums[n] - coalesce(sums[n - 1], 0) end)::float8 as value
    from indexed
  union all
  select series, ((day + 1) * ${DAY_MS}::bigint - 1 - $6::bigint) / $8::bigint, total
    from totals as t
   where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day between $4::int and $5::int
     and (day + 1) * ${DAY_MS}::bigint between $6::bigint + 1 and $7::bigint
     and not exists (select from runs as r
                      where (r.scope_id, r.tier, r.series, r.day) = (t.scope_id, t.tier, t.series, t.day)))
select series, json_agg(json_build_array(index, value) order by index) as found
  from (select series, index, sum(value) as value from sums group by series, index having sum(value) <> 0) as periods
 group by series`)

const POINTS = sql<{ series: number; found: readonly number[] }, [...Range, limit: number, descending: boolean]>(`
with ${PARTS},
points as (
  select series, base + ms as at,
         row_number() over (partition by series order by case when $9::boolean then -(base + ms) else base + ms end) as place
    from parts cross join lateral unnest(times) as ms
   where base + ms between low and high)
select series, json_agg(at order by place) as found from points where place <= $8::int group by series`)

const TOTALS = sql<
  { series: number; total: number },
  [scopeId: string, tier: number, series: readonly number[], day: number, ms: number]
>(`
select series, sum(total)::float8 as total
  from (select series, total from totals
         where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day < $4::int
        union all
        select series, ${summed('cardinality(times)')} from arrivals
         where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day < $4::int
        union all
        select series, ${summed('width_bucket($5::int - 1, times)')}
          from (select series, times, sums, first_ms from runs
                 where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day = $4::int
                union all
                select series, times, sums, first_ms from arrivals
                 where scope_id = $1 and tier = $2::smallint and series = any($3::smallint[]) and day = $4::int) as that_day
         where first_ms < $5::int) as parts
 group by series`)

/** The sums of the periods in which something happened, by series, in order. */
export async function periodSums<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  series: readonly Name[],
  grid: Grid,
): Promise<Map<Name, PeriodSum[]>> {
  const rows = await on.query(SUMS, ...rangeOf(scope, series, grid), grid.period)
  return byName(series, rows, ({ found }) => found.map(([index, sum]) => ({ index, sum })))
}

/** The times of the first points, or of the last ones, by series, in that order; at most `limit` of each. */
export async function pointTimes<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  series: readonly Name[],
  { from, to, limit, descending }: { from: number; to: number; limit: number; descending: boolean },
): Promise<Map<Name, number[]>> {
  const rows = await on.query(POINTS, ...rangeOf(scope, series, { from, to }), limit, descending)
  return byName(series, rows, ({ found }) => [...found])
}

/** The sum of all points before a time, by series; a series without points is left out. */
export async function totalsBefore<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  series: readonly Name[],
  time: number,
): Promise<Map<Name, number>> {
  const day = dayOf(time)
  const rows = await on.query(TOTALS, scope.id, TIER_CODES[scope.tier], series.map(codeOf), day, time - day * DAY_MS)
  return byName(series, rows, ({ total }) => total)
}

function rangeOf(scope: Scope, series: readonly SeriesName[], { from, to }: Pick<Grid, 'from' | 'to'>): Range {
  return [scope.id, TIER_CODES[scope.tier], series.map(codeOf), dayOf(from), dayOf(to - 1), from, to]
}

function byName<Name extends SeriesName, Row extends { readonly series: number }, Value>(
  series: readonly Name[],
  rows: readonly Row[],
  read: (row: Row) => Value,
): Map<Name, Value> {
  const names = new Map(series.map((name) => [codeOf(name), name]))
  return new Map(
    rows.flatMap((row) => {
      const name = names.get(row.series)
      return name === undefined ? [] : [[name, read(row)] as const]
    }),
  )
}
