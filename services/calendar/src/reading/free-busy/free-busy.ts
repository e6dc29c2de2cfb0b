import type { Attendee, BusyTimes } from '@restante/contracts/resources'
import type { Queryable } from '@restante/service/database'
import { datesBetween } from '../../dates/index.ts'
import type { EventRow } from '../../model/rows.ts'
import type { CalendarInbox } from '../store/inbox.ts'
import { loadOneOffs, loadSeries } from '../store/outlines.ts'
import { Pace } from '../window/pace.ts'
import { tooWide, type Window } from '../window/window.ts'
import { type BusySpan, busyTimes } from './busy-times.ts'

/** Dates that are looked at for one answer, those of all its inboxes together. */
const MOST_DATES = 50_000

/**
 * When inboxes are busy within a window, in their order. Each inbox is read as it is at one moment.
 * @throws ApiError 400 for a window with too many dates.
 */
export async function freeBusy(
  on: Queryable,
  inboxes: readonly CalendarInbox[],
  window: Window,
  most = MOST_DATES,
): Promise<BusyTimes[]> {
  const pace = new Pace()
  const answers: BusyTimes[] = []
  let left = most
  for (const inbox of inboxes) {
    const { spans, looked } = await spansOf(on, inbox, window, { left, pace })
    left -= looked
    answers.push(busyTimes(spans, window))
  }
  return answers
}

async function spansOf(
  on: Queryable,
  inbox: CalendarInbox,
  window: Window,
  { left, pace }: { readonly left: number; readonly pace: Pace },
): Promise<{ readonly spans: BusySpan[]; readonly looked: number }> {
  const [series, oneOffs] = await Promise.all([loadSeries(on, inbox, window), loadOneOffs(on, inbox, window)])
  const spans = oneOffs.flatMap((event) => spanOf(event, event, inbox.address))
  let looked = oneOffs.length
  for (const state of series) {
    if (pace.isOver) await pace.pause()
    for (const date of datesBetween(state, { ...window, includeOverlapping: true })) {
      spans.push(...spanOf(state.event, date, inbox.address))
      if (++looked > left) throw tooWide('There are too many dates in the window; ask for a narrower one')
      if (pace.isOver) await pace.pause()
    }
  }
  return { spans, looked }
}

interface Dated {
  readonly status: EventRow['status']
  readonly attendees: readonly Attendee[]
  readonly start_at: Date
  readonly end_at: Date
}

/**
 * The time that a date takes. Declined and cancelled dates take none; what is not answered yet, or is tentative, may take
 * it. Whole days are busy too: a calendar says of a holiday that nobody is there.
 */
function spanOf({ source }: EventRow, { status, attendees, start_at, end_at }: Dated, address: string): BusySpan[] {
  const own = source === 'email' ? attendees.find(({ email }) => email === address)?.status : undefined
  if (status === 'cancelled' || own === 'declined') return []
  const isTentative = status === 'tentative' || own === 'tentative' || own === 'needs_action'
  return [{ from: start_at.getTime(), to: end_at.getTime(), status: isTentative ? 'tentative' : 'busy' }]
}
