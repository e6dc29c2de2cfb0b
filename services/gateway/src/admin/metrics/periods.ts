const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Periods that people think in, shortest first. */
const PERIODS = [
  ...[1, 2, 5, 10, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 3, 7].map((days) => days * DAY),
]

/** A range of time in equal periods, in milliseconds. */
export interface Periods {
  readonly from: number
  readonly to: number
  readonly period: number
  readonly points: number
}

/** The shortest periods of which at most `most` cover the last so many milliseconds. */
export function periodsOf(last: number, to: number, most: number): Periods {
  const period = PERIODS.find((each) => last / each <= most) ?? Math.ceil(last / most)
  const points = Math.ceil(last / period)
  return { from: to - points * period, to, period, points }
}

/** A period in the largest unit that divides it: `6 h`. */
export function periodText(ms: number): string {
  if (ms % DAY === 0) return `${ms / DAY} d`
  if (ms % HOUR === 0) return `${ms / HOUR} h`
  return ms % MINUTE === 0 ? `${ms / MINUTE} min` : `${ms / SECOND} s`
}
