import { dateOf, dayOf, type WallDay, weekdayOf } from '../wall/wall-time.ts'

export interface WeekNumber {
  /** From the start of the year: 1 is the first week that has at least four days in it (ISO 8601, RFC 5545 3.3.10). */
  readonly fromStart: number
  /** From the end of it: -1 is the last one. */
  readonly fromEnd: number
}

/** The first day of the week of a day. @param weekStart Monday is 0. */
export function weekStartOf(day: WallDay, weekStart: number): WallDay {
  return day - ((weekdayOf(day) - weekStart + 7) % 7)
}

/** The number of the week of a day, in the year to which the week belongs. @param weekStart Monday is 0. */
export function weekNumberOf(day: WallDay, weekStart: number): WeekNumber {
  // The fourth day of a week lies in the year that the week belongs to.
  const middle = weekStartOf(day, weekStart) + 3
  const { year } = dateOf(middle)
  const firstDay = dayOf({ year, month: 1, day: 1 })
  const fromStart = Math.floor((middle - firstDay) / 7) + 1
  const lastDay = dayOf({ year, month: 12, day: 31 })
  return { fromStart, fromEnd: -(Math.floor((lastDay - middle) / 7) + 1) }
}
