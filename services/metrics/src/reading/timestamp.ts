import { DAY_MS, dayOf } from '../series/series.ts'

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
/** The minutes of a day. */
const MINUTES = Array.from({ length: 1_440 }, (_, minute) => {
  return `T${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:`
})
const MILLISECONDS = Array.from({ length: 1_000 }, (_, number) => `.${String(number).padStart(3, '0')}Z`)

/** More than one answer has. */
const MOST_DATES = 2_000
const dates = new Map<number, string>()

/**
 * A time in milliseconds since 1970 as ISO 8601. An answer has thousands, which `toISOString` would spend most of its time on;
 * those of all types are from the same days, so dates are kept.
 */
export function timestamp(at: number): string {
  const day = dayOf(at)
  const ms = at - day * DAY_MS
  const second = Math.floor(ms / 1_000)
  const minute = Math.floor(second / 60)
  return `${dateOf(day)}${MINUTES[minute]}${TWO_DIGITS[second - minute * 60]}${MILLISECONDS[ms - second * 1_000]}`
}

function dateOf(day: number): string {
  const known = dates.get(day)
  if (known !== undefined) return known
  if (dates.size === MOST_DATES) dates.clear()
  const date = new Date(day * DAY_MS).toISOString().slice(0, -'T00:00:00.000Z'.length)
  dates.set(day, date)
  return date
}

/** From this period on most periods have events of several types. Looking shorter ones up would cost more than it saves. */
const SHARED_MS = 60_000

/** How to write the times of one answer: those of periods are written once, for all types. */
export function timestamps(period: number): (at: number) => string {
  if (period < SHARED_MS) return timestamp
  const written = new Map<number, string>()
  return (at) => {
    const known = written.get(at)
    if (known !== undefined) return known
    const text = timestamp(at)
    written.set(at, text)
    return text
  }
}
