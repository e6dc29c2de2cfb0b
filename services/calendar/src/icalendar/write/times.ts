import { DAY_SECONDS, Zone } from '@restante/recurrence'
import { textOf, wallOf } from '../../dates/times/wall.ts'
import type { Schedule } from '../../model/rows.ts'
import { instantValue, type Property } from './jcal.ts'

/** How wall times of an event are written: as days, in UTC, or in a zone that the object describes. */
export type TimeForm = Pick<Schedule, 'all_day' | 'timezone'>

/** Names of UTC itself, whose times end with Z. */
const UTC = 'UTC'

/** The zone that an object has to describe; undefined where its times need none. */
export function zoneOf({ all_day, timezone }: TimeForm): string | undefined {
  return all_day || timezone === UTC ? undefined : timezone
}

/** Wall times of an event. */
export function times(name: string, form: TimeForm, ...walls: readonly string[]): Property {
  const zone = zoneOf(form)
  const type = form.all_day ? 'date' : 'date-time'
  return [name, zone === undefined ? {} : { tzid: zone }, type, ...walls.map((wall) => timeValue(form, wall))]
}

/** A wall time as jCal has it. */
export function timeValue({ all_day, timezone }: TimeForm, wall: string): string {
  return !all_day && timezone === UTC ? `${wall}Z` : wall
}

/** Where a date ends: of whole days the day after the last one, else the wall time. */
export function endTime(form: TimeForm, { end, end_at }: { readonly end: string; readonly end_at: Date }): Property {
  if (form.all_day) return times('dtend', form, textOf(wallOf(end) + DAY_SECONDS, true))
  // A wall time that clocks show twice, or skip, is another instant to whoever reads it.
  const read = Zone.of(form.timezone).instantOf(wallOf(end)) * 1_000
  if (read !== end_at.getTime()) return ['dtend', {}, 'date-time', instantValue(end_at)]
  return times('dtend', form, end)
}
