import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { datesBetween } from '../../dates/index.ts'
import type { EventState } from '../../model/rows.ts'
import type { Pace } from '../window/pace.ts'
import { tooWide, type Window } from '../window/window.ts'

/** Rules that can have more than one date a day; others have at most 366 dates in the widest window. */
const SEVERAL_A_DAY = /FREQ=(?:HOURLY|MINUTELY|SECONDLY)|BY(?:HOUR|MINUTE|SECOND)=/
const { dates: densest, within } = CALENDAR_LIMITS.density
/** No series is dense enough to have too many dates in a window that is no wider. */
const NARROW = (Math.floor(CALENDAR_LIMITS.datesInWindow / densest) - 1) * within
/** Dates that are counted for one request, of all series together. */
const MOST_COUNTED = 100_000

/** @throws ApiError 400 when one of the series has more dates in a window than a list may have (calendar 8). */
export async function requireFewDates(
  states: readonly EventState[],
  window: Window,
  includeOverlapping: boolean,
  pace: Pace,
): Promise<void> {
  if (window.before.getTime() - window.after.getTime() <= NARROW) return
  let counted = 0
  for (const state of states) {
    if (!SEVERAL_A_DAY.test(state.event.rule ?? '')) continue
    if (pace.isOver) await pace.pause()
    let count = 0
    for (const _ of datesBetween(state, { ...window, includeOverlapping })) {
      if (++count > CALENDAR_LIMITS.datesInWindow) {
        throw tooWide(`The series ${state.event.id} has more than ${CALENDAR_LIMITS.datesInWindow} dates in the window`)
      }
      if (++counted > MOST_COUNTED) throw tooWide('There are too many dates in the window; ask for a narrower one')
      if (pace.isOver) await pace.pause()
    }
  }
}
