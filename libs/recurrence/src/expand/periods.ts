import { hasDays, type Rule, WEEKDAYS } from '../rule/rule.ts'
import { DAY_SECONDS, dateOf, dayOf, type WallDay, type WallTime, weekdayOf } from '../wall/wall-time.ts'
import { DayFilter, lengthOfMonth, lengthOfYear } from './day-filter.ts'
import { weekStartOf } from './week.ts'

/** One period of a rule: its times are every day with every time of day, in this order. */
export interface Period {
  /** No time of it, nor of a later period, is before this. */
  readonly begin: WallTime
  readonly days: readonly WallDay[]
  /** Seconds since midnight from which `times` count. */
  readonly base: number
  /** Seconds, shared by all periods of a rule. */
  readonly times: readonly number[]
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
  readonly #start: WallDay
  readonly #times: readonly number[]
  /**
   * The days that the rule may fall on, from the first of a year or a month, by its shape. Few shapes exist, so that a rule
   * that never matches is looked at for thousands of years in a few milliseconds.
   */
  readonly #offsets = new Map<number, readonly number[]>()

  constructor(rule: Rule, start: WallTime) {
    this.#rule = rule
    this.#filter = new DayFilter(rule)
    this.#start = Math.floor(start / DAY_SECONDS)
    this.#times = rule.byHour.flatMap((hour) =>
      rule.byMinute.flatMap((minute) => rule.bySecond.map((second) => hour * 3_600 + minute * 60 + second)),
    )
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
    const [first, length, shape] = this.#range(index * this.#rule.interval)
    const next = shape === undefined ? this.#nextMonth(index, first, length) : undefined
    if (next !== undefined) return next
    const offsets = (shape === undefined ? undefined : this.#offsets.get(shape)) ?? this.#allowed(first, length)
    if (shape !== undefined) this.#offsets.set(shape, offsets)
    return { begin: first * DAY_SECONDS, days: offsets.map((offset) => first + offset), base: 0, times: this.#times }
  }

  /** Of a day or a week in months that the rule excludes, the first period that has a day of an allowed one. */
  #nextMonth(index: number, first: WallDay, length: number): number | undefined {
    const months = this.#filter
    if (months.allowsMonth(first) || months.allowsMonth(first + length - 1)) return undefined
    const days = months.nextMonth(first + length - 1) - first - (length - 1)
    return index + Math.ceil(days / (length * this.#rule.interval))
  }

  #allowed(first: WallDay, length: number): number[] {
    return Array.from({ length }, (_, offset) => offset).filter((offset) => this.#filter.allows(first + offset))
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
        // The first days may belong to the last week of the year before, and the last days to the first week of the next
        // one: their numbers depend on the lengths of these years.
        const [before, after] = [lengthOfYear(year + passed - 1) - 365, lengthOfYear(year + passed + 1) - 365]
        return [first, length, ((weekdayOf(first) * 2 + length - 365) * 2 + before) * 2 + after]
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

const UNITS = { HOURLY: 3_600, MINUTELY: 60, SECONDLY: 1 } as const

/** Periods that are shorter than a day. */
class TimePeriods implements Periods {
  readonly #rule: Rule
  readonly #filter: DayFilter
  readonly #first: WallTime
  readonly #step: number
  readonly #hours: ReadonlySet<number>
  readonly #minutes: ReadonlySet<number>
  readonly #seconds: ReadonlySet<number>
  readonly #times: readonly number[]

  constructor(rule: Rule, start: WallTime) {
    const { frequency, interval } = rule
    const unit = frequency === 'HOURLY' || frequency === 'MINUTELY' ? UNITS[frequency] : UNITS.SECONDLY
    this.#rule = rule
    this.#filter = new DayFilter(rule)
    this.#first = start - (((start % unit) + unit) % unit)
    this.#step = unit * interval
    this.#hours = new Set(rule.byHour)
    this.#minutes = new Set(rule.byMinute)
    this.#seconds = new Set(rule.bySecond)
    this.#times =
      frequency === 'HOURLY'
        ? rule.byMinute.flatMap((minute) => rule.bySecond.map((second) => minute * 60 + second))
        : frequency === 'MINUTELY'
          ? rule.bySecond
          : [0]
  }

  at(time: WallTime): number {
    return Math.max(0, Math.floor((time - this.#first) / this.#step))
  }

  read(index: number): Period | number {
    const { frequency } = this.#rule
    const begin = this.#first + index * this.#step
    const day = Math.floor(begin / DAY_SECONDS)
    const seconds = begin - day * DAY_SECONDS
    const hour = Math.floor(seconds / 3_600)
    const minute = Math.floor(seconds / 60) % 60
    if (!this.#filter.allowsMonth(day)) return this.#from(this.#filter.nextMonth(day) * DAY_SECONDS)
    if (!this.#filter.allows(day)) return this.#from((day + 1) * DAY_SECONDS)
    if (!isGiven(this.#hours, hour)) return this.#from(day * DAY_SECONDS + (hour + 1) * 3_600)
    const period = { begin, days: [day], times: this.#times }
    if (frequency === 'HOURLY') return { ...period, base: hour * 3_600 }
    const atMinute = hour * 3_600 + minute * 60
    if (!isGiven(this.#minutes, minute)) return this.#from(day * DAY_SECONDS + atMinute + 60)
    if (frequency === 'MINUTELY') return { ...period, base: atMinute }
    return isGiven(this.#seconds, seconds % 60) ? { ...period, base: seconds } : index + 1
  }

  /** The first period that begins at or after a time. */
  #from(time: WallTime): number {
    return Math.ceil((time - this.#first) / this.#step)
  }
}

function isGiven(list: ReadonlySet<number>, value: number): boolean {
  return list.size === 0 || list.has(value)
}
