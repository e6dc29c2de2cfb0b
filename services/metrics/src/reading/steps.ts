import type { Grid } from '../series/grid.ts'
import { DAY_MS, dayOf } from '../series/series.ts'
import { RUN_POINTS } from '../series/settle.ts'
import type { Range } from './range.ts'

/** Bounds of a grid. */
export interface Bounds {
  readonly first: number
  readonly last: number
}

/** What to look at next of a series of events. */
export interface Step extends Bounds {
  /** Whether there are so many rows between bounds that these are better looked up one by one. */
  readonly probed: boolean
}

/** What looking a bound up costs, in rows that are read in order. */
const PROBE_COST = 2

/** Standard deviations of the number of events by which a step looks further, so that it seldom falls short. */
const DEVIATIONS = 4

/**
 * Plans how far to look for a number of periods with events, from the number of events of each day.
 * @param left what is not looked at yet.
 */
export function stepOf(
  events: ReadonlyMap<number, number>,
  grid: Grid,
  left: Bounds,
  { periods, descending }: { readonly periods: number; readonly descending: boolean },
): Step {
  const wanted = periods + DEVIATIONS * Math.sqrt(periods)
  let [found, runs, reach] = [0, 0, 0]
  for (const { day, width } of daysOf(grid, left, descending)) {
    const density = (events.get(day) ?? 0) / DAY_MS
    // So many periods have an event when events come at random.
    const filled = (width / grid.period) * -Math.expm1(-density * grid.period)
    const part = filled > wanted - found ? (wanted - found) / filled : 1
    reach += width * part
    runs += Math.ceil((density * width * part) / RUN_POINTS.events)
    found += filled * part
    if (part < 1) break
  }
  const bounds = Math.min(Math.ceil(reach / grid.period), left.last - left.first)
  const probed = bounds * PROBE_COST < runs
  if (descending) return { first: left.last - bounds, last: left.last, probed }
  return { first: left.first, last: left.first + bounds, probed }
}

/** The time between two bounds, in milliseconds since 1970. */
export function rangeOfBounds({ from, to, period }: Grid, { first, last }: Bounds): Range {
  return { from: from + first * period, to: Math.min(from + last * period, to) }
}

/** The days between two bounds in the chosen order, and how many milliseconds of each are between them. */
function daysOf(grid: Grid, bounds: Bounds, descending: boolean) {
  const { from: begin, to: end } = rangeOfBounds(grid, bounds)
  const firstDay = dayOf(begin)
  const days = Array.from({ length: dayOf(end - 1) - firstDay + 1 }, (_, index) => {
    const day = firstDay + index
    return { day, width: Math.min((day + 1) * DAY_MS, end) - Math.max(day * DAY_MS, begin) }
  })
  return descending ? days.toReversed() : days
}
