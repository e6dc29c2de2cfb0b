import type { CalendarDate } from '../../dates/date.ts'
import { dateAt, datesBetween } from '../../dates/index.ts'
import type { EventState } from '../../model/rows.ts'

const DAY = 24 * 60 * 60 * 1_000
/** How many days ahead, and how many, dates are written that an edit of all later ones changes (calendar 14.2). */
const AHEAD = { days: 180, dates: 100 }

/** The dates that were edited alone, in order, as far as the series still has them. */
export function editedDates(state: EventState): CalendarDate[] {
  return state.edits
    .filter(({ mode }) => mode === 'single')
    .flatMap(({ slot }) => dateAt(state, slot) ?? [])
    .toSorted((one, other) => one.start_at.getTime() - other.start_at.getTime())
}

/**
 * The next dates from a slot on, from now or, if that is later, from the date of the slot: what attendees are told of a
 * change of a date and all later ones. No other form of it is read by all programs.
 */
export function nextDates(state: EventState, slot: string, now: Date): CalendarDate[] {
  const anchor = dateAt(state, slot)?.start_at ?? now
  const after = anchor > now ? anchor : now
  const before = new Date(after.getTime() + AHEAD.days * DAY)
  const found: CalendarDate[] = []
  for (const date of datesBetween(state, { after, before, includeOverlapping: true })) {
    if (date.slot < slot || date.future.length === 0) continue
    found.push(date)
    if (found.length === AHEAD.dates) break
  }
  return found
}
