import { CALENDAR_LIMITS, type DurationMode } from '@restante/contracts/vocabulary'
import { DAY_SECONDS, type Instant, isZoneName, type WallTime, Zone } from '@restante/recurrence'
import { invalid } from '@restante/service/errors'
import type { Schedule } from '../../model/rows.ts'
import { isFormOf, readWall, textOf, wallOf } from './wall.ts'

/** Where a date lies. */
export interface Span {
  readonly startAt: Instant
  readonly endAt: Instant
  /** Of whole days the midnight after the last one. */
  readonly end: WallTime
}

type Length = Pick<Schedule, 'all_day' | 'duration_mode' | 'duration_value'>

/** Where a date of some length lies that starts at a wall time of a zone (calendar 4). */
export function spanOf(zone: Zone, start: WallTime, { all_day, duration_mode, duration_value }: Length): Span {
  const startAt = zone.instantOf(start)
  const length = all_day ? duration_value * DAY_SECONDS : duration_value / 1_000
  if (duration_mode === 'exact') return { startAt, endAt: startAt + length, end: zone.wallTimeOf(startAt + length) }
  const endAt = zone.instantOf(start + length)
  // Clocks can skip the whole date; it has its length nevertheless.
  return { startAt, endAt: endAt > startAt ? endAt : startAt + length, end: start + length }
}

export function dateOf(instant: Instant): Date {
  return new Date(instant * 1_000)
}

/** The end of a schedule as it is shown: a wall time, of whole days the last one. */
export function endOf(schedule: Schedule): string {
  const { end } = spanOf(Zone.of(schedule.timezone), wallOf(schedule.start), schedule)
  return shownEnd(end, schedule.all_day)
}

/** The end of a span as it is shown. */
export function shownEnd(end: WallTime, allDay: boolean): string {
  return textOf(allDay ? end - DAY_SECONDS : end, allDay)
}

/** The instants at which a schedule starts and ends; those after the year 9999, which cannot be stored, are its last second. */
export function instantsOf(schedule: Schedule): { start_at: Date; end_at: Date } {
  const { startAt, endAt } = spanOf(Zone.of(schedule.timezone), wallOf(schedule.start), schedule)
  const last = YEAR_10000 - 1
  return { start_at: dateOf(Math.min(startAt, last)), end_at: dateOf(Math.min(endAt, last)) }
}

export interface GivenSchedule {
  readonly start: string
  readonly end: string
  readonly all_day: boolean
  readonly timezone: string
  /** Default: `exact` of a one-off with a time of day, else `nominal`. */
  readonly duration_mode?: DurationMode | undefined
  /** Whether it is that of a series or of a date of one. */
  readonly series: boolean
}

/**
 * Reads when an event lies (calendar 4). The length is taken between start and end: on the clock, or of the mode `exact`
 * between their instants.
 * @throws ApiError 400 at `start`, `end`, `timezone` or `duration_mode`.
 */
export function readSchedule({ start, end, all_day, timezone, duration_mode, series }: GivenSchedule): Schedule {
  if (!isZoneName(timezone)) {
    throw invalid(['timezone'], 'Must be a name of the IANA time zone database, such as Europe/Berlin')
  }
  const mode = duration_mode ?? (series || all_day ? 'nominal' : 'exact')
  if (all_day && mode === 'exact') throw invalid(['duration_mode'], 'Must be nominal for an event of whole days')
  const [from, to] = [readTime(start, 'start', all_day), readTime(end, 'end', all_day)]
  if (all_day ? to < from : to <= from) {
    throw invalid(['end'], all_day ? 'Must not be before `start`' : 'Must be after `start`')
  }
  const schedule = { all_day, start, timezone, duration_mode: mode, duration_value: lengthBetween(from, to) }
  checkLength(schedule, series)
  return schedule

  function lengthBetween(from: WallTime, to: WallTime): number {
    if (all_day) return (to - from) / DAY_SECONDS + 1
    return (mode === 'exact' ? exactSeconds(Zone.of(timezone), from, to) : to - from) * 1_000
  }
}

/** The time between two wall times; what is between them on the clock, where their instants are in the wrong order. */
export function exactSeconds(zone: Zone, from: WallTime, to: WallTime): number {
  const seconds = zone.instantOf(to) - zone.instantOf(from)
  return seconds > 0 ? seconds : to - from
}

function readTime(text: string, path: 'start' | 'end', allDay: boolean): WallTime {
  const wall = readWall(text)
  if (wall === undefined || !isFormOf(text, allDay)) {
    const form = allDay ? 'a day such as 2026-10-07' : 'a local time such as 2026-10-07T09:00:00'
    throw invalid([path], `Must be ${form}, without an offset`)
  }
  if (text < '1900') throw invalid([path], 'Must be in the years 1900 to 9999')
  return wall
}

/** Calendars end before it. */
export const YEAR_10000: Instant = Date.UTC(10_000, 0, 1) / 1_000
const DAY = DAY_SECONDS * 1_000

/** Whether a date ends after the year 9999, on its clock or by UTC: texts of times have four digits for a year. */
export function isBeyondCalendars({ startAt, endAt, end }: Span, allDay: boolean): boolean {
  return Math.max(startAt, endAt, allDay ? end - DAY_SECONDS : end) >= YEAR_10000
}

/** @throws ApiError 400 for a schedule that is longer than events, or dates of series, may be. */
export function checkLength(schedule: Schedule, series: boolean): void {
  const most = series ? CALENDAR_LIMITS.length.date : CALENDAR_LIMITS.length.single
  const length = schedule.all_day ? schedule.duration_value * DAY : schedule.duration_value
  if (length > most) throw invalid(['end'], `Must be at most ${most / DAY} days after \`start\``)
  if (isBeyondCalendars(spanOf(Zone.of(schedule.timezone), wallOf(schedule.start), schedule), schedule.all_day)) {
    throw invalid(['end'], 'Must be in the years 1900 to 9999, also in UTC')
  }
}
