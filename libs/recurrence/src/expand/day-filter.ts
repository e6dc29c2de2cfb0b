import { type DayOfWeek, type Rule, WEEKDAYS } from '../rule/rule.ts'
import { dateOf, dayOf, isLeapYear, type WallDay, weekdayOf } from '../wall/wall-time.ts'
import { weekNumberOf } from './week.ts'

/** The parts of a rule that choose days, each by itself. */
export type DayPart = 'BYMONTH' | 'BYWEEKNO' | 'BYYEARDAY' | 'BYMONTHDAY' | 'BYDAY'

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const

/**
 * Tells which days a rule may fall on. RFC 5545 3.3.10 lets the parts expand a period or limit it, in a fixed order; what is
 * left in the end are the days that satisfy every part.
 */
export class DayFilter {
  readonly #rule: Rule
  readonly #weekStart: number
  readonly #months: ReadonlySet<number>
  readonly #weekNumbers: ReadonlySet<number>
  readonly #yearDays: ReadonlySet<number>
  readonly #monthDays: ReadonlySet<number>
  readonly #days: readonly { readonly weekday: number; readonly ordinal: number | undefined }[]

  constructor(rule: Rule) {
    this.#rule = rule
    this.#weekStart = WEEKDAYS.indexOf(rule.weekStart)
    this.#months = new Set(rule.byMonth)
    this.#weekNumbers = new Set(rule.byWeekNumber)
    this.#yearDays = new Set(rule.byYearDay)
    this.#monthDays = new Set(rule.byMonthDay)
    this.#days = rule.byDay.map(({ weekday, ordinal }: DayOfWeek) => ({ weekday: WEEKDAYS.indexOf(weekday), ordinal }))
  }

  /** Whether a rule may fall on a day. */
  allows(day: WallDay): boolean {
    return this.refusing(day) === undefined
  }

  /** The first part that a day does not satisfy. */
  refusing(wallDay: WallDay): DayPart | undefined {
    const { year, month, day } = dateOf(wallDay)
    if (this.#months.size > 0 && !this.#months.has(month)) return 'BYMONTH'
    if (this.#weekNumbers.size > 0) {
      const { fromStart, fromEnd } = weekNumberOf(wallDay, this.#weekStart)
      if (!this.#weekNumbers.has(fromStart) && !this.#weekNumbers.has(fromEnd)) return 'BYWEEKNO'
    }
    const monthLength = lengthOfMonth(year, month)
    if (this.#yearDays.size > 0) {
      const yearDay = wallDay - dayOf({ year, month: 1, day: 1 }) + 1
      if (!isIn(this.#yearDays, yearDay, lengthOfYear(year))) return 'BYYEARDAY'
    }
    if (this.#monthDays.size > 0 && !isIn(this.#monthDays, day, monthLength)) return 'BYMONTHDAY'
    if (this.#days.length > 0 && !this.#allowsWeekday(wallDay, { year, day, monthLength })) return 'BYDAY'
    return undefined
  }

  #allowsWeekday(wallDay: WallDay, date: { year: number; day: number; monthLength: number }): boolean {
    const weekday = weekdayOf(wallDay)
    return this.#days.some((given) => {
      if (given.weekday !== weekday) return false
      return given.ordinal === undefined || this.#positions(wallDay, date).includes(given.ordinal)
    })
  }

  /** The positions of a day among those of its weekday, from the start and from the end of the month or the year. */
  #positions(
    wallDay: WallDay,
    { year, day, monthLength }: { year: number; day: number; monthLength: number },
  ): number[] {
    const isInMonth = this.#rule.frequency === 'MONTHLY' || this.#rule.byMonth.length > 0
    const [place, length] = isInMonth
      ? [day, monthLength]
      : [wallDay - dayOf({ year, month: 1, day: 1 }) + 1, lengthOfYear(year)]
    return [Math.ceil(place / 7), -Math.ceil((length - place + 1) / 7)]
  }
}

/** Whether a list has a place, counted from the start or from the end. */
function isIn(list: ReadonlySet<number>, place: number, length: number): boolean {
  return list.has(place) || list.has(place - length - 1)
}

export function lengthOfYear(year: number): number {
  return isLeapYear(year) ? 366 : 365
}

/** @param month 1 to 12. */
export function lengthOfMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (MONTH_LENGTHS[month - 1] ?? 0)
}
