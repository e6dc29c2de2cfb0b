import { type CalendarDate, datesBetween, isTooLate } from '../dates/index.ts'
import type { BegunDateRow, EventState } from '../model/rows.ts'

/** Dates that one transaction takes on; after a long downtime there may be more. */
const MOST_DATES = 100

/** What has happened to an event and was not noticed yet. */
export interface Due {
  /** Dates that have started. */
  readonly started: readonly CalendarDate[]
  /** Dates that were over when they were noticed, too late for an event (calendar 17). */
  readonly skipped: readonly CalendarDate[]
  /** Dates that ran and have ended, as they began. */
  readonly ended: readonly BegunDateRow[]
  /** Whether there may be further ones. */
  readonly more: boolean
}

/** The starts and ends of an event that are due, earliest first. Cancelled dates have none (calendar 17). */
export function dueOf(state: EventState, now: Date): Due {
  const started: CalendarDate[] = []
  const skipped: CalendarDate[] = []
  let more = false
  // A date that starts now has started.
  const window = { after: state.event.seen_until, before: new Date(now.getTime() + 1), includeOverlapping: true }
  for (const date of datesBetween(state, window)) {
    if (date.begun !== undefined || date.status === 'cancelled') continue
    if (started.length + skipped.length === MOST_DATES) {
      more = true
      break
    }
    const list = isTooLate(date, now) ? skipped : started
    list.push(date)
  }
  const ended = state.begun.filter((row) => row.state === 'running' && row.end_at <= now)
  return { started, skipped, ended: ended.sort((a, b) => a.end_at.getTime() - b.end_at.getTime()), more }
}
