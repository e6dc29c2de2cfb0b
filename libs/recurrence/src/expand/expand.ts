import type { Rule } from '../rule/rule.ts'
import { DAY_SECONDS, dayOf, type WallTime } from '../wall/wall-time.ts'
import { DayFilter } from './day-filter.ts'
import { withDefaults } from './defaults.ts'
import { type Period, periodsOf } from './periods.ts'

/** Periods without a time that are looked at before a rule counts as ended. */
export const MOST_STEPS = 10_000
/** Calendars end with the year 9999. */
const END: WallTime = dayOf({ year: 10_000, month: 1, day: 1 }) * DAY_SECONDS

export interface ExpandOptions {
  /** Times before it are left out. Of a rule without COUNT they are not even looked at. */
  readonly from?: WallTime
  /** Whether a time lies after the UNTIL of the rule; the zone of the event decides. */
  readonly isAfterEnd?: (time: WallTime) => boolean
}

/**
 * The times of a rule in their order, as RFC 5545 3.3.10 defines them, on the wall time of the event; what clocks skip or
 * repeat is for its zone to decide. A rule ends with COUNT, with UNTIL, with the year 9999, or when `MOST_STEPS` periods in
 * a row have no time, so that no rule is looked at for long.
 */
export function* expand(rule: Rule, start: WallTime, options: ExpandOptions = {}): Generator<WallTime, void> {
  const { from = start, isAfterEnd = () => false } = options
  const { count } = rule
  const complete = withDefaults(rule, start)
  const periods = periodsOf(complete, start)
  let left = count ?? Number.POSITIVE_INFINITY
  let index = count === undefined ? periods.at(from) : 0
  for (let idle = 0; idle < MOST_STEPS; idle++) {
    const period = periods.read(index)
    if (typeof period === 'number') {
      index = period
      continue
    }
    index++
    for (const time of timesOf(period, complete.byPosition)) {
      if (time < start) continue
      if (time >= END || left === 0 || isAfterEnd(time)) return
      left--
      idle = 0
      if (time >= from) yield time
    }
    if (left === 0) return
  }
}

/**
 * The first part of a rule that its start does not satisfy, such as `BYDAY`.
 * @returns undefined when the start is one of the times of the rule.
 */
export function failingPart(rule: Rule, start: WallTime): string | undefined {
  const complete = withDefaults(rule, start)
  const day = Math.floor(start / DAY_SECONDS)
  const seconds = start - day * DAY_SECONDS
  const refusing = new DayFilter(complete).refusing(day)
  if (refusing !== undefined) return refusing
  const { byHour, byMinute, bySecond, byPosition } = complete
  if (isMissing(byHour, Math.floor(seconds / 3_600))) return 'BYHOUR'
  if (isMissing(byMinute, Math.floor(seconds / 60) % 60)) return 'BYMINUTE'
  if (isMissing(bySecond, seconds % 60)) return 'BYSECOND'
  const period = periodsOf(complete, start).read(0)
  const isChosen = typeof period !== 'number' && [...timesOf(period, byPosition)].includes(start)
  return isChosen ? undefined : 'BYSETPOS'
}

function isMissing(list: readonly number[], value: number): boolean {
  return list.length > 0 && !list.includes(value)
}

function* timesOf({ days, times }: Period, positions: readonly number[]): Generator<WallTime, void> {
  const size = days.length * times.length
  if (positions.length === 0) {
    for (const day of days) for (const time of times) yield day * DAY_SECONDS + time
    return
  }
  const chosen = positions.map((position) => (position > 0 ? position - 1 : size + position))
  for (const place of [...new Set(chosen)].sort((a, b) => a - b)) {
    const day = days[Math.floor(place / times.length)]
    const time = times[place % times.length]
    if (place >= 0 && day !== undefined && time !== undefined) yield day * DAY_SECONDS + time
  }
}
