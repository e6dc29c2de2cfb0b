import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { datesBetween } from '../../dates/index.ts'
import type { EventState } from '../../model/rows.ts'

/**
 * Whether a date of an event has started and its start was not recorded yet, which takes seconds (calendar 12). A change
 * of when its dates lie would lose it.
 * @param concerns the slots of the dates that are changed.
 */
export function isStarting(state: EventState, now: Date, concerns: (slot: string) => boolean = () => true): boolean {
  const window = { after: state.event.seen_until, before: new Date(now.getTime() + 1), includeOverlapping: true }
  for (const { slot, begun, status, start_at, end_at } of datesBetween(state, window)) {
    const isTooLate = end_at <= now && now.getTime() - start_at.getTime() > CALENDAR_LIMITS.overdue
    if (concerns(slot) && begun === undefined && status !== 'cancelled' && !isTooLate) return true
  }
  return false
}
