/**
 * A wall time: what a clock on a wall and a calendar beside it show, without a time zone. Counted in seconds since
 * 1970-01-01T00:00:00 as if no clock were ever changed, so that arithmetic on it is arithmetic on what is shown.
 */
export type WallTime = number

/** The same in days, for whole days. */
export type WallDay = number

export const DAY_SECONDS = 86_400
const DAY_MS = DAY_SECONDS * 1_000

export interface CivilDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
}

/** The day of a date of the Gregorian calendar; a day beyond the end of its month is one of the next. */
export function dayOf({ year, month, day }: CivilDate): WallDay {
  // Date.UTC would take the years up to 99 as those of the 20th century.
  return new Date(0).setUTCFullYear(year, month - 1, day) / DAY_MS
}

/** The date of a day. */
export function dateOf(wallDay: WallDay): CivilDate {
  const date = new Date(wallDay * DAY_MS)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
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
