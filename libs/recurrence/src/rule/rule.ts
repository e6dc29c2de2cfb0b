/** How often a rule repeats, from the longest period to the shortest. */
export const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const
export type Frequency = (typeof FREQUENCIES)[number]

/** In the order of ISO 8601: Monday is 0. */
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** One value of BYDAY: every such weekday of the period, or the n-th, from the end when negative. */
export interface DayOfWeek {
  readonly weekday: Weekday
  readonly ordinal?: number
}

/** A recurrence rule (RFC 5545 3.3.10). Lists are sorted and have no value twice; a part that is absent has none. */
export interface Rule {
  readonly frequency: Frequency
  readonly interval: number
  readonly count?: number
  /** `YYYYMMDDTHHMMSSZ` for events with a time of day, `YYYYMMDD` for whole days; inclusive. */
  readonly until?: string
  readonly weekStart: Weekday
  readonly byMonth: readonly number[]
  readonly byWeekNumber: readonly number[]
  readonly byYearDay: readonly number[]
  readonly byMonthDay: readonly number[]
  readonly byDay: readonly DayOfWeek[]
  readonly byHour: readonly number[]
  readonly byMinute: readonly number[]
  readonly bySecond: readonly number[]
  readonly byPosition: readonly number[]
}

/** Whether periods of a rule are days or longer: then the time of day is chosen within them. */
export function hasDays({ frequency }: Pick<Rule, 'frequency'>): boolean {
  return FREQUENCIES.indexOf(frequency) <= FREQUENCIES.indexOf('DAILY')
}
