/**
 * Sums of a series before bounds. The sum before a bound is its level, if it has one, and all rises up to it: a level says what
 * rows that the bound divides have before it, and a rise what ended since the bound before.
 */
export interface Sums {
  readonly levels: ReadonlyMap<number, number>
  readonly rises: ReadonlyMap<number, number>
}

/** Levels or rises of a series, as they are read. Those of the same bound are added. */
export interface Found {
  readonly series: number
  readonly level: boolean
  readonly bounds: readonly number[]
  readonly sums: readonly number[]
}

/** The sum of the points of one period: period `index` begins at the bound of this number. */
export interface PeriodSum {
  readonly index: number
  readonly sum: number
}

/** What was found, by series. */
export function sumsOf(rows: readonly Found[]): Map<number, Sums> {
  const found = new Map<number, { levels: Map<number, number>; rises: Map<number, number> }>()
  for (const { series, level, bounds, sums } of rows) {
    const of = found.get(series) ?? { levels: new Map(), rises: new Map() }
    found.set(series, of)
    const into = level ? of.levels : of.rises
    for (const [place, bound] of bounds.entries()) into.set(bound, (into.get(bound) ?? 0) + (sums[place] ?? 0))
  }
  return found
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
