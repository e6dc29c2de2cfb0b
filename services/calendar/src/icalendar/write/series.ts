import type { CalendarDate } from '../../dates/date.ts'
import type { EditRow, EventState } from '../../model/rows.ts'
import { editedDates, nextDates } from './dates.ts'
import { dateComponent, eventComponent, type Writing } from './event.ts'
import { type Component, written } from './jcal.ts'

/** Which edits of dates are written. */
export type IsWritten = (edit: EditRow) => boolean

/** Dates are left out that would make an object larger, the last ones first: few programs read more, and mails carry it. */
const MOST_CHARACTERS = 256 * 1024

/**
 * A one-off event; or a series, and the dates of it that differ: those that were edited alone, and the next ones of those
 * that were edited from a date on.
 * @param isWritten edits for which it is false are as if they did not exist.
 * @param changed the slot of an edit of all later dates, whose dates are written wherever it lies.
 */
export function seriesComponents(
  given: EventState,
  writing: Writing,
  isWritten: IsWritten,
  changed?: string,
): Component[] {
  const state = { ...given, edits: given.edits.filter(isWritten) }
  const series = eventComponent(state, writing)
  let left = MOST_CHARACTERS - written(series).length
  const components = [series]
  for (const date of differingDates(state, writing.at, changed)) {
    const component = dateComponent(state, date, writing)
    left -= written(component).length
    if (left < 0) break
    components.push(component)
  }
  return components
}

function differingDates(state: EventState, at: Date, changed: string | undefined): Iterable<CalendarDate> {
  const [first] = state.edits.flatMap(({ mode, slot }) => (mode === 'future' ? [slot] : [])).toSorted()
  const slots = new Set([changed, first].filter((slot) => slot !== undefined))
  const later = [...slots].flatMap((slot) => nextDates(state, slot, at))
  return new Map([...editedDates(state), ...later].map((date) => [date.slot, date])).values()
}
