import { isDeepStrictEqual } from 'node:util'
import { PREVIOUS_FIELDS } from '@restante/contracts/events'
import type { CalendarEvent } from '@restante/contracts/resources'

/** Earlier values of the fields of an event that a change has changed. */
export type PreviousValues = Partial<Pick<CalendarEvent, (typeof PREVIOUS_FIELDS)[number]>>

/** What a change of an event or series has changed; a field that had no value is absent (calendar 17). */
export function previousValues(before: CalendarEvent, after: CalendarEvent): PreviousValues {
  const changed = PREVIOUS_FIELDS.filter(
    (name) => before[name] !== undefined && !isDeepStrictEqual(before[name], after[name]),
  )
  return Object.fromEntries(changed.map((name) => [name, before[name]]))
}
