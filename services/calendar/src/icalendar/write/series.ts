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
 */
export function seriesComponents(state: EventState, writing: Writing, isWritten: IsWritten): Component[] {
  const series = eventComponent(state, writing)
  let left = MOST_CHARACTERS - written(series).length
  const components = [series]
  for (const component of differingDates(state, writing, isWritten)) {
    left -= written(component).length
    if (left < 0) break
    components.push(component)
  }
  return components
}

function* differingDates(state: EventState, writing: Writing, isWritten: IsWritten): Generator<Component, void> {
  const slots = state.edits.filter((edit) => edit.mode === 'future' && isWritten(edit)).map(({ slot }) => slot)
  const [first] = slots.toSorted()
  const later = first === undefined ? [] : nextDates(state, first, writing.at)
  const dates = new Map([...editedDates(state, isWritten), ...later].map((date) => [date.slot, date]))
  for (const date of dates.values()) yield dateComponent(state, date, writing)
}
