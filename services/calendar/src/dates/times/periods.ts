import type { RdatePeriod } from '@restante/contracts/resources'
import { DAY_SECONDS, type WallTime, Zone } from '@restante/recurrence'
import type { Schedule } from '../../model/rows.ts'
import { exactSeconds } from './schedule.ts'
import { readWall, wallOf } from './wall.ts'

const DURATION = /^P(?:(\d{1,4})W|(?:(\d{1,4})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?)$/

/** Seconds of an ISO 8601 duration of weeks, or of days and a time (RFC 5545 3.3.6). @returns undefined for any other. */
export function readDuration(text: string): number | undefined {
  const [whole, weeks, days, hours, minutes, seconds] = DURATION.exec(text) ?? []
  if (whole === undefined || /[PT]$/.test(whole)) return undefined
  return (
    Number(weeks ?? 0) * 7 * DAY_SECONDS +
    Number(days ?? 0) * DAY_SECONDS +
    Number(hours ?? 0) * 3_600 +
    Number(minutes ?? 0) * 60 +
    Number(seconds ?? 0)
  )
}

/**
 * The length of a date that has one of its own, in milliseconds.
 * @returns undefined when it cannot be read, or is none.
 */
export function lengthOf({ start, end, duration }: RdatePeriod, schedule: Schedule): number | undefined {
  if (duration !== undefined) {
    const seconds = readDuration(duration)
    return seconds === undefined || seconds <= 0 ? undefined : seconds * 1_000
  }
  const [from, to]: (WallTime | undefined)[] = [wallOf(start), end === undefined ? undefined : readWall(end)]
  if (from === undefined || to === undefined || to <= from) return undefined
  return (schedule.duration_mode === 'exact' ? exactSeconds(Zone.of(schedule.timezone), from, to) : to - from) * 1_000
}
