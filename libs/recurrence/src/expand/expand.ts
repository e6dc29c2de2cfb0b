import type { Rule } from '../rule/rule.ts'
import { DAY_SECONDS, dayOf, type WallTime } from '../wall/wall-time.ts'
import { DayFilter } from './day-filter.ts'
import { withDefaults } from './defaults.ts'
import { type Period, type Periods, periodsOf } from './periods.ts'

/** Periods without a time that are looked at before a rule counts as ended. */
export const MOST_STEPS = 10_000
/** Calendars end with the year 9999. */
const END: WallTime = dayOf({ year: 10_000, month: 1, day: 1 }) * DAY_SECONDS

export interface ExpandOptions {
  /** The expansion begins here; what lies before is not looked at, unless the rule has COUNT. */
  readonly from?: WallTime
  /** The expansion ends here; what lies at it or later is not looked at. */
  readonly before?: WallTime
  /** Whether a time lies after the UNTIL of the rule, which the zone of the event decides; needed by a rule with UNTIL. */
  readonly isAfterEnd?: (time: WallTime) => boolean
}

/**
 * The times of a rule in their order, as RFC 5545 3.3.10 defines them, on the wall time of the event; what clocks skip or
 * repeat is for its zone to decide. A rule ends with COUNT, with UNTIL, with the year 9999, or when `MOST_STEPS` periods in
 * a row have no time, so that no rule is looked at for long.
 * @throws TypeError for a rule with UNTIL without `isAfterEnd`, by which it would never end.
 */
export function expand(rule: Rule, start: WallTime, options: ExpandOptions = {}): Generator<WallTime, void> {
  return new Expansion(rule, start).times(options)
}

/** A rule with its start, to be expanded more than once: what was found out about its periods is kept. */
export class Expansion {
  readonly #rule: Rule
  readonly #start: WallTime
  readonly #positions: readonly number[]
  readonly #periods: Periods

  constructor(rule: Rule, start: WallTime) {
    const complete = withDefaults(rule, start)
    this.#rule = rule
    this.#start = start
    this.#positions = complete.byPosition
    this.#periods = periodsOf(complete, start)
  }

  /** The times of the rule, as `expand` yields them. */
  *times({ from = this.#start, before = END, isAfterEnd }: ExpandOptions = {}): Generator<WallTime, void> {
    const { count, until } = this.#rule
    if (until !== undefined && isAfterEnd === undefined) throw new TypeError('a rule with UNTIL needs isAfterEnd')
    // Times before it are neither yielded nor counted.
    const least = count === undefined ? Math.max(this.#start, from) : this.#start
    let left = count ?? Number.POSITIVE_INFINITY
    let index = count === undefined ? this.#periods.at(from) : 0
    for (let idle = 0; idle < MOST_STEPS; idle++) {
      const period = this.#periods.read(index)
      if (typeof period === 'number') {
        index = period
        continue
      }
      index++
      if (period.first * DAY_SECONDS >= before) return
      for (const time of timesOf(period, this.#positions, least)) {
        if (time >= before || time >= END || left === 0 || isAfterEnd?.(time)) return
        left--
        idle = 0
        if (time >= from) yield time
      }
      if (left === 0) return
    }
  }
}

/**
 * The first part of a rule that its start does not satisfy, such as `BYDAY`.
 * @returns undefined when the start is one of the times of the rule, apart from its UNTIL, which the zone of the event decides.
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
  const next = typeof period === 'number' ? undefined : timesOf(period, byPosition, start).next().value
  return next === start ? undefined : 'BYSETPOS'
}

function isMissing(list: readonly number[], value: number): boolean {
  return list.length > 0 && !list.includes(value)
}

/** The times of a period from `least` on. A year can have millions of times, so that whole days before it are passed over. */
function* timesOf(
  { first, offsets, base, times }: Period,
  positions: readonly number[],
  least: WallTime,
): Generator<WallTime, undefined> {
  if (positions.length === 0) {
    for (let index = 0; index < offsets.length; index++) {
      const midnight = (first + (offsets[index] ?? 0)) * DAY_SECONDS
      if (midnight + DAY_SECONDS <= least) continue
      const begin = midnight + base
      for (let place = begin < least ? times.placeOf(least - begin) : 0; place < times.length; place++) {
        yield begin + (times.at(place) ?? 0)
      }
    }
    return
  }
  const size = offsets.length * times.length
  const chosen = positions.map((position) => (position > 0 ? position - 1 : size + position))
  for (const place of [...new Set(chosen)].sort((a, b) => a - b)) {
    const offset = offsets[Math.floor(place / times.length)]
    const time = times.at(place % times.length)
    if (place < 0 || offset === undefined || time === undefined) continue
    const found = (first + offset) * DAY_SECONDS + base + time
    if (found >= least) yield found
  }
}
