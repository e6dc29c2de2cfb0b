import { DAY_SECONDS, Zone } from '@restante/recurrence'
import { invalid } from '@restante/service/errors'
import { readDuration, readSchedule, readWall, textOf, wallOf } from '../../dates/index.ts'
import type { ReadEvent, ReadPeriod, ReadTime } from '../../icalendar/read/index.ts'
import type { Schedule } from '../../model/rows.ts'

const MINUTE = 60

/** How times of a file are read. */
export interface TimeContext {
  /** Of the calendar: that of times without a zone. */
  readonly floating: string
}

/** Where the times of an event are kept. */
type Place = Pick<Schedule, 'all_day' | 'timezone' | 'start'>

/**
 * The schedule of an event of a file (calendar 15): in the zone of its start, of whole days in UTC.
 * @param series that it is a date of, or `true` of a series itself.
 * @throws ApiError for a schedule that no event has.
 */
export function scheduleOf(event: ReadEvent, context: TimeContext, series: boolean | Schedule): Schedule {
  const { start } = event
  if (start === undefined) throw invalid(['start'], 'There is no DTSTART')
  const all_day = !start.wall.includes('T')
  const of = typeof series === 'object' ? series : undefined
  if (of !== undefined && of.all_day !== all_day) throw invalid(['all_day'], 'A date has the form of its series')
  const timezone = of?.timezone ?? (all_day ? 'UTC' : (start.zone ?? context.floating))
  const wall = localOf(start, { all_day, timezone, start: start.wall }, context)
  const place = { all_day, timezone, start: wall }
  const mode = of === undefined ? {} : { duration_mode: of.duration_mode }
  return readSchedule({ ...place, ...mode, end: endOf(event, place, context), series: series !== false })
}

/** The end on the clock; of whole days the last one. An event without a length lasts a day, or a minute. */
function endOf({ end, duration }: ReadEvent, place: Place, context: TimeContext): string {
  const from = wallOf(place.start)
  const to = duration === undefined ? end && wallOf(localOf(end, place, context)) : from + secondsOf(duration)
  if (to !== undefined && to < from) throw invalid(['end'], 'Must not be before the start')
  if (!place.all_day) return textOf(to === undefined || to === from ? from + MINUTE : to, false)
  return textOf(Math.max(from, (to ?? from) - DAY_SECONDS), true)
}

function secondsOf(duration: string): number {
  const seconds = readDuration(duration)
  if (seconds === undefined) throw invalid(['end'], 'The DURATION is none')
  return seconds
}

/** A time of a file on the clock of an event. A day among times is at the time of its start. */
export function localOf({ wall, zone }: ReadTime, place: Place, { floating }: TimeContext): string {
  if (readWall(wall) === undefined) throw invalid(['start'], `${wall} is no time`)
  if (place.all_day) return wall.slice(0, 10)
  if (!wall.includes('T')) return `${wall}${place.start.slice(10)}`
  const from = zone ?? floating
  if (from === place.timezone) return wall
  return textOf(Zone.of(place.timezone).wallTimeOf(Zone.of(from).instantOf(wallOf(wall))), false)
}

/** RDATE on the clock of an event. */
export function addedOf(
  added: ReadTime | ReadPeriod,
  place: Place,
  context: TimeContext,
): string | { start: string; end?: string; duration?: string } {
  if ('wall' in added) return localOf(added, place, context)
  const start = localOf(added.start, place, context)
  if (place.all_day) return start
  const { end, duration } = added
  return {
    start,
    ...(end !== undefined && { end: localOf(end, place, context) }),
    ...(duration !== undefined && { duration }),
  }
}

const UNTIL = /^UNTIL=(.*)$/
const TIME_OF_DAY = /^BY(HOUR|MINUTE|SECOND)=/

/**
 * A rule as it must be (calendar 10): as UNTIL programs also write days, and times without a zone; and a time of day that a
 * rule of whole days gives is to be ignored (RFC 5545 3.3.10).
 */
export function ruleWith(rule: string, place: Place, context: TimeContext): string {
  return rule
    .split(';')
    .filter((part) => !(place.all_day && TIME_OF_DAY.test(part)))
    .map((part) => part.replace(UNTIL, (_, given: string) => `UNTIL=${untilOf(given, place, context)}`))
    .join(';')
}

function untilOf(given: string, place: Place, context: TimeContext): string {
  const [, wall, utc] = /^([\d-]+(?:T[\d:]+)?)(Z?)$/.exec(given) ?? []
  if (wall === undefined || readWall(wall) === undefined) throw invalid(['recurrence', 'rule'], 'UNTIL is no time')
  if (place.all_day) return wall.slice(0, 10).replaceAll('-', '')
  const time = wall.includes('T') ? wall : `${wall}T23:59:59`
  const zone = utc === 'Z' ? 'UTC' : place.timezone
  const inUtc = localOf({ wall: time, zone }, { ...place, timezone: 'UTC' }, context)
  return `${inUtc.replaceAll(/[-:]/g, '')}Z`
}
