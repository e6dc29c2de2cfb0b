/**
 * A wall time: what a clock on a wall and a calendar beside it show, without a time zone. Counted in seconds since
 * 1970-01-01T00:00:00 as if no clock were ever changed, so that arithmetic on it is arithmetic on what is shown.
 */
export type WallTime = number

/** The same in days, for whole days. */
export type WallDay = number

export const DAY_SECONDS = 86_400
/** The days from 0000-03-01, at which the leap day ends a year, to 1970-01-01. */
const EPOCH_DAYS = 719_468
const ERA_DAYS = 146_097

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

/** The day of a date of the Gregorian calendar; a day beyond the end of its month is one of the next. */
export function dayOf({ year, month, day }: CivilDate): WallDay {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return (
    era * ERA_DAYS + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - EPOCH_DAYS
  )
}

/** The date of a day. */
export function dateOf(wallDay: WallDay): CivilDate {
  const z = wallDay + EPOCH_DAYS
  const era = Math.floor(z / ERA_DAYS)
  const dayOfEra = z - era * ERA_DAYS
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day }
}

/** Monday is 0, Sunday is 6. */
export function weekdayOf(wallDay: WallDay): number {
  return (((wallDay + 3) % 7) + 7) % 7
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2}):(\d{2})$/

/** Reads `YYYY-MM-DD`. @returns undefined for anything else, a date that does not exist included. */
export function parseDay(text: string): WallDay | undefined {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? []
  if (year === '') return undefined
  const wallDay = dayOf({ year: Number(year), month: Number(month), day: Number(day) })
  return formatDay(wallDay) === text ? wallDay : undefined
}

/** Reads `YYYY-MM-DDTHH:mm:ss`. @returns undefined for anything else, a time that does not exist included. */
export function parseWallTime(text: string): WallTime | undefined {
  const [, date = '', hours = '', minutes = '', seconds = ''] = TIME.exec(text) ?? []
  const day = parseDay(date)
  if (day === undefined || hours > '23' || minutes > '59' || seconds > '59') return undefined
  return day * DAY_SECONDS + Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
}

/** Writes `YYYY-MM-DD`. */
export function formatDay(wallDay: WallDay): string {
  const { year, month, day } = dateOf(wallDay)
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}

/** Writes `YYYY-MM-DDTHH:mm:ss`. */
export function formatWallTime(time: WallTime): string {
  const day = Math.floor(time / DAY_SECONDS)
  const seconds = time - day * DAY_SECONDS
  return `${formatDay(day)}T${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}
