import { type Queryable, sql } from '@restante/service/database'
import { SUM_OF_ROW } from './add.ts'
import type { Grid, Span } from './grid.ts'
import { codeOf, DAY_MS, dayOf, type Scope, type SeriesName, TIER_CODES } from './series.ts'
import { type Found, type PeriodSum, periodSumsOf, type Sums, sumsBefore, sumsOf } from './sums.ts'

type Asked = [spans: string, from: number, to: number, period: number]

/**
 * Spans and their scope are given as one JSON document, so that PostgreSQL keeps the plans of these statements. Of parameters that
 * columns are compared with, it would expect fewer rows, or cheaper ones, once it knows their values, and plan each execution.
 */
const GIVEN = `(
  select * from json_to_recordset($1::json)
                as spans (scope_id uuid, tier smallint, series smallint, first bigint, last bigint)) as given`

/** Whether a row is of the series of a span. */
const isOf = (row: string, span: string) =>
  `(${row}.scope_id, ${row}.tier, ${row}.series) = (${span}.scope_id, ${span}.tier, ${span}.series)`

/** The spans: `low` and `high` are the times of their ends. */
const asked = (firstDay: string) => `
asked as (
  select *, ${firstDay} as first_day
    from (select *, $2::bigint + first * $4::bigint as low, least($2::bigint + last * $4::bigint, $3::bigint) as high
            from ${GIVEN}) as spans)`

/** The bound that follows a time, which may be before the span. */
const boundAfter = (time: string) =>
  `case when ${time} < low then first else (${time} - $2::bigint) / $4::bigint + 1 end`
/** The bounds from one on and before another, in order. */
const boundsFrom = (first: string, end: string) =>
  `(select generate_series(${first}, ${end} - 1) as bound offset 0) as bounds`
const timeOfBound = (bound: string) => `least($2::bigint + ${bound} * $4::bigint, $3::bigint)`
/** How many points a row has before a time of its day, in milliseconds: the times are in order, so this is a binary search. */
const pointsBefore = (ms: string) => `width_bucket(${ms} - 1, times)`

/** What is read of rows: columns, the sum of so many first points, and the running sums of points in a span, as JSON. */
interface Values {
  readonly columns: string
  readonly sumOf: (points: string) => string
  readonly sums: string
}

/** Each event counts one. Rows have no sums then, and looking for them at the end of each costs a tenth of a question. */
const EVENTS: Values = { columns: 'times', sumOf: (points) => points, sums: 'null' }
const CHANGES: Values = {
  columns: 'times, sums',
  sumOf: (points) => `coalesce(sums[${points}], ${points})`,
  sums: 'array_to_json(sums[passed + 1:reached])',
}

const FIRST_DAY = `low / ${DAY_MS}`
const LAST_DAY = `(high - 1) / ${DAY_MS}`

const rowsOf = (table: string, columns: string) => `
    select day * ${DAY_MS}::bigint as base, day * ${DAY_MS}::bigint + first_ms as begins,
           day * ${DAY_MS}::bigint + last_ms as ends, ${columns}
      from ${table}
     where ${isOf(table, 'asked')} and day between first_day and ${LAST_DAY}`

/**
 * Reads rows of points in one pass: they are wide, and nothing may sort, hash or keep them. Of each, `opens` is the first bound
 * after its first point, and `closes` the first after its last. Where a row has more points than bounds, these are searched for:
 * what the row has before those in between are its levels. Where it has fewer, its points are read, those before the span as a
 * sum. The `offset 0` have what is the same for all of a row computed once, and a row left behind before anything is grouped.
 */
const scanned = ({ columns, sumOf, sums }: Values, ...tables: readonly string[]) => `
stored as (
  select asked.*, rows.*, cardinality(times) as size, ${boundAfter('begins')} as opens,
         case when ends < high then ${boundAfter('ends')} else last + 1 end as closes,
         case when begins < low then width_bucket(least(low - base - 1, ${DAY_MS})::int, times) else 0 end as passed,
         case when ends < high then cardinality(times) else width_bucket((high - base - 1)::int, times) end as reached
    from asked cross join lateral (${tables.map((table) => rowsOf(table, columns)).join(' union all ')}) as rows
   where begins < high offset 0),
scanned as (
  select series, opens,
         case when opens < closes and closes - opens < size then array(
           select ${sumOf(pointsBefore(`(${timeOfBound('bound')} - base)::int`))} from ${boundsFrom('opens', 'closes')}) end as levels,
         case when ends < high then ${sumOf('size')} end as total,
         case when closes - opens >= size then
           json_build_array(opens, ${sumOf('passed')}, base, array_to_json(times[passed + 1:reached]), ${sums})
         end as points
    from stored offset 0)`

const FOUND = `
select series, json_agg(opens) filter (where points is null) as opens, json_agg(levels) filter (where points is null) as levels,
       json_agg(total) filter (where points is null) as totals, json_agg(points) filter (where points is not null) as points`

const SCAN = sql<Found, Asked>(`
with ${asked(FIRST_DAY)}, ${scanned(EVENTS, 'runs', 'arrivals')}
${FOUND} from scanned group by series`)
// Of a running total whose runs are dropped that of the day is left, as a point at its end.
const SCAN_WITH_DROPPED = sql<Found, Asked>(`
with ${asked(FIRST_DAY)}, ${scanned(CHANGES, 'runs', 'arrivals')},
dropped as (
  select asked.*, (day + 1) * ${DAY_MS}::bigint as next, total
    from asked cross join lateral (
      select day, total from totals as t
       where ${isOf('t', 'asked')} and day between first_day and ${LAST_DAY}
         and not exists (select from runs as r
                          where (r.scope_id, r.tier, r.series, r.day) = (t.scope_id, t.tier, t.series, t.day))) as t)
${FOUND}
  from (select * from scanned
        union all
        select series, ${boundAfter('next - 1')}, null, total, null from dropped where next <= high) as found
 group by series`)

/** The last run of each day between two, which knows the sum of the settled points of the day. */
const lastRuns = (span: string, firstDay: string, lastDay: string) => `
  generate_series(${firstDay}, ${lastDay}) as day cross join lateral (
    select first_ms, before, times, sums, before + ${SUM_OF_ROW} as total from runs as r
     where ${isOf('r', span)} and r.day = day.day
     order by first_ms desc, id desc limit 1) as run`

/**
 * Reads one run for each bound: what is before the run in its day, and what is before the bound in the run, are what the day has
 * before the bound. A day is read as a row is. Arrivals have no such order: they are scanned.
 * @param days days with the totals of their points, and with their last runs where these are known.
 */
const probed = (firstDay: string, days: string) => `
with ${asked(firstDay)}, ${scanned(CHANGES, 'arrivals')},
days as (
  select *, greatest(first, (base - $2::bigint + $4::bigint - 1) / $4::bigint) as opens,
         case when next <= high then ${boundAfter('next - 1')} else last + 1 end as closes
    from (select asked.*, stored.*, day * ${DAY_MS}::bigint as base, (day + 1) * ${DAY_MS}::bigint as next
            from asked cross join lateral (${days}) as stored offset 0) as placed),
probed as (
  select series, opens,
         case when opens < closes then array(
           select coalesce(
                    case when ms > first_ms then before + ${CHANGES.sumOf(pointsBefore('ms'))}
                         else (select before + ${CHANGES.sumOf(pointsBefore('ms'))} from runs
                                where ${isOf('runs', 'days')} and runs.day = days.day and first_ms < ms
                                order by first_ms desc, id desc limit 1) end, 0)
             from (select (${timeOfBound('bound')} - base)::int as ms
                     from ${boundsFrom('opens', 'closes')} offset 0) as placed) end as levels,
         case when next <= high then total end as total, null::json as points
    from days)
${FOUND} from (select * from scanned union all select * from probed) as found group by series`

const PROBE = sql<Found, Asked>(probed(FIRST_DAY, `select * from ${lastRuns('asked', 'first_day', LAST_DAY)}`))
// A day whose runs are dropped has its total still.
const PROBE_SINCE_EVER = sql<Found, Asked>(
  probed(
    '0',
    `select day, total, null::int as first_ms, null::bigint as before, null::int[] as times, null::bigint[] as sums
       from totals where ${isOf('totals', 'asked')} and day <= ${LAST_DAY}`,
  ),
)

const DAYS = sql<{ series: number; days: readonly number[]; points: readonly number[] }, [spans: string]>(`
select series, json_agg(day) as days, json_agg(points) as points
  from (select series, day, total as points
          from ${GIVEN} cross join lateral ${lastRuns('given', 'first::int', 'last::int')}
        union all
        select given.series, day, ${SUM_OF_ROW}
          from ${GIVEN} join arrivals on ${isOf('arrivals', 'given')} and day between first and last) as stored
 group by series`)

/** Sums up to bounds of series of events, from all points near them: for bounds that are close, or series with few points. */
export async function scan<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  spans: readonly Span<Name>[],
  grid: Grid,
): Promise<Map<Name, Sums>> {
  if (spans.length === 0) return new Map()
  return byName(spans, sumsOf(await on.query(SCAN, ...askedOf(scope, spans, grid)), grid))
}

/**
 * Sums up to bounds, from one row of points for each: for bounds with many points between them.
 * @param options.sinceEver whether sums begin with the first point of the series ever, a running total, and not at some time
 * before the first bound.
 */
export async function probe<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  spans: readonly Span<Name>[],
  { sinceEver = false, ...grid }: Grid & { readonly sinceEver?: boolean },
): Promise<Map<Name, Sums>> {
  if (spans.length === 0) return new Map()
  return byName(
    spans,
    sumsOf(await on.query(sinceEver ? PROBE_SINCE_EVER : PROBE, ...askedOf(scope, spans, grid)), grid),
  )
}

/** The sums of the periods in which something happened, by series, in order; days whose runs are dropped are in them. */
export async function periodSums<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  series: readonly Name[],
  grid: Grid,
): Promise<Map<Name, PeriodSum[]>> {
  const last = Math.ceil((grid.to - grid.from) / grid.period)
  const spans = series.map((name) => ({ series: name, first: 0, last }))
  const found = sumsOf(await on.query(SCAN_WITH_DROPPED, ...askedOf(scope, spans, grid)), grid)
  return new Map([...byName(spans, found)].map(([name, sums]) => [name, periodSumsOf(sums, 0)]))
}

/** The sum of all points before a time, by series; a series without points is left out. */
export async function totalsBefore<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  series: readonly Name[],
  time: number,
): Promise<Map<Name, number>> {
  const spans = series.map((name) => ({ series: name, first: 0, last: 0 }))
  const found = await probe(on, scope, spans, { from: time, to: time, period: 1, sinceEver: true })
  return new Map([...found].map(([name, sums]) => [name, sumsBefore(sums, 1)[0] ?? 0]))
}

/** How many points of series of events each day has; days without points are left out. */
export async function pointsByDay<Name extends SeriesName>(
  on: Queryable,
  scope: Scope,
  series: readonly Name[],
  { from, to }: Pick<Grid, 'from' | 'to'>,
): Promise<Map<Name, Map<number, number>>> {
  const spans = series.map((name) => ({ series: name, first: dayOf(from), last: dayOf(to - 1) }))
  const found = new Map<number, Map<number, number>>()
  for (const { series: code, days, points } of await on.query(DAYS, given(scope, spans))) {
    const byDay = new Map<number, number>()
    for (const [place, day] of days.entries()) byDay.set(day, (byDay.get(day) ?? 0) + (points[place] ?? 0))
    found.set(code, byDay)
  }
  return byName(spans, found)
}

function askedOf(scope: Scope, spans: readonly Span<SeriesName>[], { from, to, period }: Grid): Asked {
  return [given(scope, spans), from, to, period]
}

function given({ tier, id }: Scope, spans: readonly Span<SeriesName>[]): string {
  const of = { scope_id: id, tier: TIER_CODES[tier] }
  return JSON.stringify(spans.map(({ series, first, last }) => ({ ...of, series: codeOf(series), first, last })))
}

function byName<Name extends SeriesName, Value>(
  series: readonly { readonly series: Name }[],
  found: ReadonlyMap<number, Value>,
): Map<Name, Value> {
  return new Map(
    series.flatMap(({ series: name }) => {
      const value = found.get(codeOf(name))
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}
