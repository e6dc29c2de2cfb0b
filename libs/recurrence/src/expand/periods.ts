import { hasDays, type Rule, WEEKDAYS } from '../rule/rule.ts'
import { DAY_SECONDS, dateOf, dayOf, type WallDay, type WallTime, weekdayOf } from '../wall/wall-time.ts'
import { AllowedDays, shapeOfYear } from './allowed-days.ts'
import { DayFilter, lengthOfMonth, lengthOfYear } from './day-filter.ts'
import { TimesOfDay } from './times-of-day.ts'
import { weekStartOf } from './week.ts'

/** One period of a rule: its times are every day with every time of day, in this order. */
export interface Period {
  readonly first: WallDay
  /** Its days, from the first one on. */
  readonly offsets: ArrayLike<number>
  /** Seconds since midnight from which its times count. */
  readonly base: number
  /** The same for all periods of a rule. */
  readonly times: TimesOfDay
}

/** The periods of a rule, numbered from that of the start. */
export interface Periods {
  /** The latest period that begins at or before a time, and is not before the first. */
  at(time: WallTime): number
  /** @returns the period, or the number of the next one that can have times, when all before it certainly have none. */
  read(index: number): Period | number
}

/** @param rule with the defaults of its start. */
export function periodsOf(rule: Rule, start: WallTime): Periods {
  return hasDays(rule) ? new DayPeriods(rule, start) : new TimePeriods(rule, start)
}

/** Periods of whole days. */
class DayPeriods implements Periods {
  readonly #rule: Rule
  readonly #filter: DayFilter
  readonly #allowedDays: AllowedDays
  readonly #start: WallDay
  readonly #startMonth: number
  readonly #times: TimesOfDay
  /**
   * The days that the rule may fall on, from the first of a year or a month, by its shape. Few shapes exist, so that a rule
   * that never matches is looked at for thousands of years in a few milliseconds.
   */
  readonly #offsets = new Map<number, Uint16Array>()

  constructor(rule: Rule, start: WallTime) {
    this.#rule = rule
    this.#filter = new DayFilter(rule)
    this.#allowedDays = new AllowedDays(this.#filter)
    this.#start = Math.floor(start / DAY_SECONDS)
    this.#startMonth = dateOf(this.#start).month
    this.#times = new TimesOfDay(rule.byHour, rule.byMinute, rule.bySecond)
  }

  at(time: WallTime): number {
    const { frequency, interval, weekStart } = this.#rule
    const day = Math.floor(time / DAY_SECONDS)
    const [from, to] = [dateOf(this.#start), dateOf(day)]
    const years = to.year - from.year
    const start = weekStartOf(this.#start, WEEKDAYS.indexOf(weekStart))
    const passed =
      frequency === 'YEARLY'
        ? years
        : frequency === 'MONTHLY'
          ? years * 12 + to.month - from.month
          : frequency === 'WEEKLY'
            ? Math.floor((day - start) / 7)
            : day - this.#start
    return Math.max(0, Math.floor(passed / interval))
  }

  read(index: number): Period | number {
    if (this.#isOutsideMonths(index)) return index + 1
    const [first, length, shape] = this.#range(index * this.#rule.interval)
    if (shape === undefined) return this.#readFew(index, first, length)
    const offsets = this.#offsets.get(shape) ?? this.#allowed(first, length)
    this.#offsets.set(shape, offsets)
    return { first, offsets, base: 0, times: this.#times }
  }

  /** Whether a month is certainly not one of the rule. */
  #isOutsideMonths(index: number): boolean {
    const { frequency, byMonth, interval } = this.#rule
    if (frequency !== 'MONTHLY' || byMonth.length === 0) return false
    return !byMonth.includes(((this.#startMonth - 1 + index * interval) % 12) + 1)
  }

  /** A day or a week. */
  #readFew(index: number, first: WallDay, length: number): Period | number {
    const offsets: number[] = []
    let day = this.#allowedDays.from(first)
    if (day >= first + length) return index + Math.ceil((day - first - length + 1) / (length * this.#rule.interval))
    for (; day < first + length; day = this.#allowedDays.from(day + 1)) offsets.push(day - first)
    return { first, offsets, base: 0, times: this.#times }
  }

  #allowed(first: WallDay, length: number): Uint16Array {
    return Uint16Array.from({ length }, (_, offset) => offset).filter((offset) => this.#filter.allows(first + offset))
  }

  /**
   * The first day of the period that is so many years, months, weeks or days after that of the start, its days, and its
   * shape: of two years or months of one shape, each day has the same month, weekday and numbers.
   */
  #range(passed: number): [first: WallDay, length: number, shape?: number] {
    const { frequency, weekStart } = this.#rule
    const { year, month } = dateOf(this.#start)
    switch (frequency) {
      case 'YEARLY': {
        const first = dayOf({ year: year + passed, month: 1, day: 1 })
        const length = lengthOfYear(year + passed)
        return [first, length, shapeOfYear(year + passed, first)]
      }
      case 'MONTHLY': {
        const months = year * 12 + month - 1 + passed
        const at = { year: Math.floor(months / 12), month: (months % 12) + 1 }
        const first = dayOf({ ...at, day: 1 })
        const length = lengthOfMonth(at.year, at.month)
        return [first, length, (at.month * 7 + weekdayOf(first)) * 32 + length]
      }
      case 'WEEKLY':
        return [weekStartOf(this.#start, WEEKDAYS.indexOf(weekStart)) + passed * 7, 7]
      default:
        return [this.#start + passed, 1]
    }
  }
}

const ONE_DAY = [0]
const UNITS = { HOURLY: 3_600, MINUTELY: 60, SECONDLY: 1 } as const

/** Periods that are shorter than a day. */
class TimePeriods implements Periods {
  readonly #rule: Rule
  readonly #days: AllowedDays
  readonly #first: WallTime
  readonly #step: number
  readonly #hours: ReadonlySet<number>
  readonly #minutes: ReadonlySet<number>
  readonly #seconds: ReadonlySet<number>
  readonly #times: TimesOfDay

  constructor(rule: Rule, start: WallTime) {
    const { frequency, interval } = rule
    const unit = frequency === 'HOURLY' || frequency === 'MINUTELY' ? UNITS[frequency] : UNITS.SECONDLY
    this.#rule = rule
    this.#days = new AllowedDays(new DayFilter(rule))
    this.#first = start - (((start % unit) + unit) % unit)
    this.#step = unit * interval
    this.#hours = new Set(rule.byHour)
    this.#minutes = new Set(rule.byMinute)
    this.#seconds = new Set(rule.bySecond)
    this.#times = timesWithin(rule)
  }

  at(time: WallTime): number {
    return Math.max(0, Math.floor((time - this.#first) / this.#step))
  }

  read(index: number): Period | number {
    const { frequency, byMinute, bySecond } = this.#rule
    const begin = this.#first + index * this.#step
    const day = Math.floor(begin / DAY_SECONDS)
    const seconds = begin - day * DAY_SECONDS
    const hour = Math.floor(seconds / 3_600)
    const minute = Math.floor(seconds / 60) % 60
    const allowed = this.#days.from(day)
    if (allowed > day) return this.#from(allowed * DAY_SECONDS)
    if (!isGiven(this.#hours, hour)) return this.#from(day * DAY_SECONDS + next(this.#rule.byHour, hour, 24) * 3_600)
    const atHour = hour * 3_600
    const period = { first: day, offsets: ONE_DAY, times: this.#times }
    if (frequency === 'HOURLY') return { ...period, base: atHour }
    if (!isGiven(this.#minutes, minute)) return this.#from(day * DAY_SECONDS + atHour + next(byMinute, minute, 60) * 60)
    const atMinute = atHour + minute * 60
    if (frequency === 'MINUTELY') return { ...period, base: atMinute }
    if (isGiven(this.#seconds, seconds % 60)) return { ...period, base: seconds }
    return this.#from(day * DAY_SECONDS + atMinute + next(bySecond, seconds % 60, 60))
  }

  /** The first period that begins at or after a time. */
  #from(time: WallTime): number {
    return Math.ceil((time - this.#first) / this.#step)
  }
}

/** The times within a period that is shorter than a day, from its beginning. */
function timesWithin({ frequency, byMinute, bySecond }: Rule): TimesOfDay {
  if (frequency === 'HOURLY') return new TimesOfDay([0], byMinute, bySecond)
  return new TimesOfDay([0], [0], frequency === 'MINUTELY' ? bySecond : [0])
}

function isGiven(list: ReadonlySet<number>, value: number): boolean {
  return list.size === 0 || list.has(value)
}

/** The next value of a sorted list after one that is not in it; `end` when none is later. */
function next(list: readonly number[], value: number, end: number): number {
  return list.find((each) => each > value) ?? end
}
