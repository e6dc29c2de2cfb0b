import { datesBetween, isTooLate } from '../../dates/index.ts'
import type { EventState } from '../../model/rows.ts'

/**
 * Whether a date of an event has started and its start was not recorded yet, which takes seconds (calendar 12). A change
 * of when its dates lie would lose it.
 * @param concerns the slots of the dates that are changed.
 */
export function isStarting(state: EventState, now: Date, concerns: (slot: string) => boolean = () => true): boolean {
  const window = { after: state.event.seen_until, before: new Date(now.getTime() + 1), includeOverlapping: true }
  for (const date of datesBetween(state, window)) {
    const isOpen = date.begun === undefined && date.status !== 'cancelled'
    if (isOpen && concerns(date.slot) && !isTooLate(date, now)) return true
  }
  return false
}
