import type { Grid } from './grid.ts'

/**
 * What is read of a series: of each row `opens`, `levels` and `totals` have an entry, unless its points are read. The row begins
 * before the bound that it opens at, its levels are the sums of it before this bound and those that follow, and all of it, the
 * total, is before the next one; null where the row goes on after the last bound.
 */
export interface Found {
  readonly series: number
  readonly opens: readonly number[] | null
  readonly levels: readonly (readonly number[] | null)[] | null
  readonly totals: readonly (number | null)[] | null
  readonly points: readonly Points[] | null
}

/**
 * Points of a row: the bound after its first one, the sum of those before the span, the beginning of the day, and of those in the
 * span the milliseconds in the day, in order, and where values are not one, the running sums of the row.
 */
type Points = readonly [
  opens: number,
  before: number,
  base: number,
  times: readonly number[],
  sums: readonly number[] | null,
]

/** The sum of the points of one period: period `index` begins at the bound of this number. */
export interface PeriodSum {
  readonly index: number
  readonly sum: number
}

interface Change {
  readonly index: number
  sum: number
}

/** The sums of periods in order, without those that are zero. What is before the first bound is of the period before it. */
export type Sums = readonly PeriodSum[]

/** What was found, by series. */
export function sumsOf(rows: readonly Found[], grid: Grid): Map<number, Sums> {
  return new Map(
    rows.map((row) => {
      const changes: Change[] = []
      addRows(changes, row)
      for (const points of row.points ?? []) addPoints(changes, points, grid)
      return [row.series, summed(changes)]
    }),
  )
}

function addRows(changes: Change[], { opens, levels, totals }: Found): void {
  opens?.forEach((first, place) => {
    let [index, before] = [first - 1, 0]
    for (const level of levels?.[place] ?? []) {
      add(changes, { index, sum: level - before })
      before = level
      index++
    }
    const total = totals?.[place] ?? null
    if (total !== null) add(changes, { index, sum: total - before })
  })
}

function addPoints(changes: Change[], [opens, before, base, times, sums]: Points, { from, period }: Grid): void {
  if (before !== 0) add(changes, { index: opens - 1, sum: before })
  let risen = before
  times.forEach((ms, place) => {
    const sum = sums?.[place] ?? before + place + 1
    add(changes, { index: Math.floor((base + ms - from) / period), sum: sum - risen })
    risen = sum
  })
}

/** Points come many to a period, and so they are added up as they are read. */
function add(changes: Change[], change: Change): void {
  const latest = changes.at(-1)
  if (latest?.index === change.index) latest.sum += change.sum
  else changes.push(change)
}

/** Adds the changes of each period up. Rows are mostly read in the order of time, so that there is little to sort. */
function summed(changes: Change[]): Sums {
  changes.sort((a, b) => a.index - b.index)
  const sums: Change[] = []
  for (const change of changes) add(sums, change)
  return sums.filter(({ sum }) => sum !== 0)
}

/** The sums before the bounds 0 and later, as many as `count`. */
export function sumsBefore(sums: Sums = [], count: number): number[] {
  let [sum, place] = [0, 0]
  return Array.from({ length: count }, (_, bound) => {
    for (let next = sums[place]; next !== undefined && next.index < bound; next = sums[++place]) sum += next.sum
    return sum
  })
}

/** The sums of the periods from a bound on in which something happened, in order. */
export function periodSumsOf(sums: Sums = [], first: number): PeriodSum[] {
  return sums.filter(({ index }) => index >= first)
}
