import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type { BegunDateRow, DateResponseRow, EditRow, EventRow, EventState } from '../../model/rows.ts'
import { tooWide, type Window } from '../window/window.ts'
import { BEGUN, EDIT_OUTLINE, OUTLINE, RESPONSE } from './columns.ts'
import type { CalendarInbox } from './inbox.ts'
import { statesOf } from './states.ts'

/** Edited or begun dates that one answer looks at. A window with more of them is refused. */
const MOST_ROWS = 100_000
const DAY = 24 * 60 * 60 * 1_000
/** A date lies at most so far from its slot in a window: its length, and what separates a zone from UTC. */
const REACH = CALENDAR_LIMITS.length.date + 2 * DAY

type InWindow = [inboxUid: string, address: string, after: Date, before: Date]

// The start of a date that was moved, or that ran before its series was, may lie outside of its series.
const SERIES = sql<EventRow, InWindow>(
  `select ${OUTLINE} from events
    where inbox_uid = $1 and kind = 'series' and status <> 'cancelled'
      and (start_at < $4 and (last_end_at is null or last_end_at > $3)
        or exists (select from edits where event_id = events.id and edits.start_at < $4 and edits.end_at > $3)
        or exists (select from begun_dates where event_id = events.id
             and begun_dates.start_at < $4 and begun_dates.end_at > $3))`,
)

/** The series of a calendar that may have dates within a window, with what is stored of those dates. */
export async function loadSeries(on: Queryable, inbox: CalendarInbox, window: Window): Promise<EventState[]> {
  const events = await on.query(SERIES, inbox.uid, inbox.address, window.after, window.before)
  return withDates(on, inbox, window, events)
}

const ONE_SERIES = sql<EventRow, [inboxUid: string, address: string, id: string]>(
  `select ${OUTLINE} from events where inbox_uid = $1 and id = $3`,
)

/** The same of one event, whether it is a series or not. */
export async function loadOutline(
  on: Queryable,
  inbox: CalendarInbox,
  window: Window,
  id: string,
): Promise<EventState | undefined> {
  const events = await on.query(ONE_SERIES, inbox.uid, inbox.address, id)
  const [state] = await withDates(on, inbox, window, events)
  return state
}

const ONE_OFFS = sql<EventRow, [...InWindow, from: Date]>(
  `select ${OUTLINE} from events
    where inbox_uid = $1 and kind = 'single' and status <> 'cancelled'
      and start_at >= $5 and start_at < $4 and end_at > $3`,
)

/** The one-off events of a calendar that overlap a window. */
export function loadOneOffs(on: Queryable, inbox: CalendarInbox, { after, before }: Window): Promise<EventRow[]> {
  return on.query(ONE_OFFS, inbox.uid, inbox.address, after, before, earliestStart(after))
}

/** A one-off event that starts earlier has ended before a time. */
export function earliestStart(time: Date): Date {
  return new Date(time.getTime() - CALENDAR_LIMITS.length.single - DAY)
}

type OfSeries = [inboxUid: string, address: string, ids: string[]]
type Within = [after: Date, before: Date, firstSlot: string, lastSlot: string]

const IN_SLOTS = `slot collate "C" between $6 and $7`
const EDITS = sql<EditRow, [...OfSeries, ...Within]>(
  `select ${EDIT_OUTLINE} from edits
    where inbox_uid = $1 and event_id = any($3::uuid[])
      and (mode = 'future' or ${IN_SLOTS} or start_at < $5 and end_at > $4)
    order by event_id, slot collate "C" limit ${MOST_ROWS + 1}`,
)
const BEGUN_DATES = sql<BegunDateRow, [inboxUid: string, ids: string[], ...Within]>(
  `select ${BEGUN} from begun_dates
    where inbox_uid = $1 and event_id = any($2::uuid[])
      and (slot collate "C" between $5 and $6 or start_at < $4 and end_at > $3)
    order by event_id, slot collate "C" limit ${MOST_ROWS + 1}`,
)
const OWN_RESPONSES = sql<DateResponseRow, [...OfSeries, firstSlot: string, lastSlot: string]>(
  `select ${RESPONSE} from date_responses
    where inbox_uid = $1 and email = $2 and event_id = any($3::uuid[]) and slot collate "C" between $4 and $5
    limit ${MOST_ROWS + 1}`,
)

async function withDates(
  on: Queryable,
  { uid, address }: CalendarInbox,
  { after, before }: Window,
  events: readonly EventRow[],
): Promise<EventState[]> {
  const ids = events.map(({ id }) => id)
  if (ids.length === 0) return []
  const slots = [dayOf(after.getTime() - REACH), dayOf(before.getTime() + REACH)] as const
  const [edits, begun, responses] = await Promise.all([
    on.query(EDITS, uid, address, ids, after, before, ...slots),
    on.query(BEGUN_DATES, uid, ids, after, before, ...slots),
    on.query(OWN_RESPONSES, uid, address, ids, ...slots),
  ])
  if (Math.max(edits.length, begun.length, responses.length) > MOST_ROWS) {
    throw tooWide('The window has too many changed dates; ask for a narrower one')
  }
  return statesOf(events, { edits, begun, responses })
}

/** The day of an instant, to compare slots with; years that slots do not have are the nearest that they have. */
function dayOf(time: number): string {
  const text = new Date(time).toISOString()
  if (text.startsWith('-')) return '0000-01-01'
  return text.startsWith('+') ? '9999-12-32' : text.slice(0, 10)
}
