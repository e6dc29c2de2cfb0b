import { DAY_MS, dayOf } from '../series/series.ts'

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))
const THREE_DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'))

let last = { day: Number.NaN, date: '' }

/**
 * A time in milliseconds since 1970 as ISO 8601. An answer has thousands, which `toISOString` would spend most of its time on;
 * they are in order, so the date is mostly that of the one before.
 */
export function timestamp(at: number): string {
  const day = dayOf(at)
  if (day !== last.day) last = { day, date: new Date(at).toISOString().slice(0, -'00:00:00.000Z'.length) }
  const ms = at - day * DAY_MS
  const seconds = Math.floor(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  const hour = TWO_DIGITS[Math.floor(minutes / 60)]
  return `${last.date}${hour}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}.${THREE_DIGITS[ms % 1_000]}Z`
}
