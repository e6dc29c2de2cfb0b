import type { Grid } from './grid.ts'

/**
 * Sums of a series before bounds. The sum before a bound is its level, if it has one, and all rises up to it: a level says what
 * rows that the bound divides have before it, and a rise what ended since the bound before.
 */
export interface Sums {
  readonly levels: ReadonlyMap<number, number>
  readonly rises: ReadonlyMap<number, number>
}

/** Levels or rises of a series, as they are read, or where `level` is null points of it. Those of the same bound are added. */
export interface Found {
  readonly series: number
  readonly level: boolean | null
  readonly bounds: readonly number[]
  readonly sums: readonly number[]
  readonly points: readonly Points[] | null
}

/**
 * Points of a row: the bound after its first one, the sum of those before the span, the beginning of the day, and of those in the
 * span the milliseconds in the day, in order, and where values are not one, the running sums of the row.
 */
type Points = readonly [opens: number, before: number, base: number, times: readonly number[], sums: readonly number[]]

/** The sum of the points of one period: period `index` begins at the bound of this number. */
export interface PeriodSum {
  readonly index: number
  readonly sum: number
}

/** What was found, by series. */
export function sumsOf(rows: readonly Found[], grid: Grid): Map<number, Sums> {
  const found = new Map<number, { levels: Map<number, number>; rises: Map<number, number> }>()
  for (const row of rows) {
    const of = found.get(row.series) ?? { levels: new Map(), rises: new Map() }
    found.set(row.series, of)
    for (const points of row.points ?? []) addRises(of.rises, points, grid)
    if (row.level === null) continue
    const into = row.level ? of.levels : of.rises
    for (const [place, bound] of row.bounds.entries()) into.set(bound, (into.get(bound) ?? 0) + (row.sums[place] ?? 0))
  }
  return found
}

/** Adds what points raise the sum by, at the first bound after each. */
function addRises(
  rises: Map<number, number>,
  [opens, before, base, times, sums]: Points,
  { from, period }: Grid,
): void {
  const rise = (bound: number, by: number) => rises.set(bound, (rises.get(bound) ?? 0) + by)
  if (before !== 0) rise(opens, before)
  let risen = before
  for (const [place, ms] of times.entries()) {
    const sum = sums[place] ?? before + place + 1
    rise(Math.floor((base + ms - from) / period) + 1, sum - risen)
    risen = sum
  }
}

/** The sums before the bounds 0 and later, as many as `count`. */
export function sumsBefore(sums: Sums | undefined, count: number): number[] {
  let risen = 0
  return Array.from({ length: count }, (_, bound) => {
    risen += sums?.rises.get(bound) ?? 0
    return risen + (sums?.levels.get(bound) ?? 0)
  })
}

/** The sums of the periods from a bound on in which something happened, in order. */
export function periodSumsOf(sums: Sums | undefined, first: number): PeriodSum[] {
  if (sums === undefined) return []
  const { levels, rises } = sums
  const bounds = [...new Set([...rises.keys(), ...levels.keys()])].sort((a, b) => a - b)
  const found: PeriodSum[] = []
  let [risen, before] = [0, 0]
  // Whatever has a level at a bound has a level or a rise at the next, so that nothing is missed between those that are there.
  for (const bound of bounds) {
    risen += rises.get(bound) ?? 0
    const sum = risen + (levels.get(bound) ?? 0)
    if (bound > first && sum !== before) found.push({ index: bound - 1, sum: sum - before })
    before = sum
  }
  return found
}
