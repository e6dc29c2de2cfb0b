import { CALENDAR_LIMITS } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import type {
  BegunDateRow,
  CancelledDateRow,
  DateResponseRow,
  EditRow,
  EventRow,
  EventState,
  Schedule,
} from '../../model/rows.ts'
import { selected } from '../../store/columns.ts'
import { tooWide, type Window } from '../window/window.ts'
import { BEGUN, CANCELLED, EDIT_OUTLINE, OUTLINE } from './columns.ts'
import type { CalendarInbox } from './inbox.ts'
import { type DateRows, statesOf } from './states.ts'

/** Edited or begun dates that one answer looks at. A window with more of them is refused. */
const MOST_ROWS = 100_000
const DAY = 24 * 60 * 60 * 1_000
/** A date lies at most so far from its slot in a window: its length, and what separates a zone from UTC. */
const REACH = CALENDAR_LIMITS.length.date + 2 * DAY

type OutlineRow = Pick<
  EventRow,
  | keyof Schedule
  | 'id'
  | 'kind'
  | 'status'
  | 'start_at'
  | 'end_at'
  | 'rule'
  | 'last_slot'
  | 'exdates'
  | 'rdates'
  | 'truncate_before'
  | 'truncated_at'
  | 'history_before'
  | 'attendees'
  | 'source'
  | 'revision'
  | 'edits_revision'
>

const NEVER = new Date(0)
/** In place of what an outline does not have. */
const NOT_READ = {
  inbox_uid: '',
  organization_id: '',
  pod_id: '',
  title: '',
  description: null,
  location: null,
  metadata: null,
  last_end_at: null,
  uid: '',
  sequence: 0,
  time_sequence: 0,
  recurrence_id: '',
  organizer_email: null,
  origin_message_id: null,
  stamped_at: null,
  seen_until: NEVER,
  take_overs: 0,
  created_at: NEVER,
  updated_at: NEVER,
} satisfies Partial<EventRow>

function outlineOf(row: OutlineRow): EventRow {
  return { ...NOT_READ, ...row }
}

type InWindow = [inboxUid: string, address: string, after: Date, before: Date]

// The start of a date that was moved, or that ran before its series was, may lie outside of its series.
const SERIES = sql<OutlineRow, InWindow>(
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
  return statesOf(events.map(outlineOf), await loadDates(on, inbox, window, { events, isOne: false }))
}

const ONE_EVENT = sql<OutlineRow, [inboxUid: string, address: string, id: string]>(
  `select ${OUTLINE} from events where inbox_uid = $1 and id = $3`,
)

/** The same of one event, whether it is a series or not. */
export async function loadOutline(
  on: Queryable,
  inbox: CalendarInbox,
  window: Window,
  id: string,
): Promise<EventState | undefined> {
  const events = await on.query(ONE_EVENT, inbox.uid, inbox.address, id)
  return statesOf(events.map(outlineOf), await loadDates(on, inbox, window, { events, isOne: true }))[0]
}

const ONE_OFFS = sql<OutlineRow, [...InWindow, from: Date]>(
  `select ${OUTLINE} from events
    where inbox_uid = $1 and kind = 'single' and status <> 'cancelled'
      and start_at >= $5 and start_at < $4 and end_at > $3`,
)

/** The one-off events of a calendar that overlap a window. */
export async function loadOneOffs(on: Queryable, inbox: CalendarInbox, { after, before }: Window): Promise<EventRow[]> {
  const rows = await on.query(ONE_OFFS, inbox.uid, inbox.address, after, before, earliestStart(after))
  return rows.map(outlineOf)
}

/** A one-off event that starts earlier has ended before a time. */
export function earliestStart(time: Date): Date {
  return new Date(time.getTime() - CALENDAR_LIMITS.length.single - DAY)
}

type Slots = readonly [firstSlot: string, lastSlot: string]

const LIMIT = `limit ${MOST_ROWS + 1}`
const EDITS = sql<EditRow, [...InWindow, ...Slots, eventId: string | null]>(
  `select ${EDIT_OUTLINE} from edits
    where inbox_uid = $1 and ($7::uuid is null or event_id = $7)
      and mode = 'single' and (slot collate "C" between $5 and $6 or start_at < $4 and end_at > $3) ${LIMIT}`,
)
// Each series has few of them, but a calendar has thousands of series: those that say nothing of times are not read.
const FUTURE_EDITS = sql<EditRow, [inboxUid: string, address: string, lastSlot: string, eventIds: readonly string[]]>(
  `select ${EDIT_OUTLINE} from edits
    where inbox_uid = $1 and event_id = any($4::uuid[]) and mode = 'future' and slot collate "C" <= $3
      and fields ?| '{status,duration_mode,duration_value,attendees}'::text[]`,
)
const BEGUN_DATES = sql<BegunDateRow, [inboxUid: string, after: Date, before: Date, ...Slots, eventId: string | null]>(
  `select ${BEGUN} from begun_dates
    where inbox_uid = $1 and ($6::uuid is null or event_id = $6)
      and (slot collate "C" between $4 and $5 or start_at < $3 and end_at > $2) ${LIMIT}`,
)
const CANCELLED_DATES = sql<
  CancelledDateRow,
  [inboxUid: string, after: Date, before: Date, ...Slots, eventId: string | null]
>(
  `select ${CANCELLED} from cancelled_dates
    where inbox_uid = $1 and ($6::uuid is null or event_id = $6)
      and exists (select from begun_dates as ran
                   where ran.event_id = cancelled_dates.event_id and ran.slot = cancelled_dates.slot
                     and (ran.slot collate "C" between $4 and $5 or ran.start_at < $3 and ran.end_at > $2)) ${LIMIT}`,
)
const OWN_RESPONSES = sql<DateResponseRow, [inboxUid: string, address: string, ...Slots, eventId: string | null]>(
  `select ${selected('date_responses')} from date_responses
    where inbox_uid = $1 and ($5::uuid is null or event_id = $5)
      and email = $2 and slot collate "C" between $3 and $4 ${LIMIT}`,
)

interface About {
  /** With dates in the window. */
  readonly events: readonly Pick<EventRow, 'id'>[]
  /** Whether it is one event that is read, or all. */
  readonly isOne: boolean
}

/** What is stored of dates within a window, of one event or of all. */
async function loadDates(
  on: Queryable,
  { uid, address }: CalendarInbox,
  { after, before }: Window,
  { events, isOne }: About,
): Promise<DateRows> {
  const ids = events.map(({ id }) => id)
  const eventId = isOne ? (ids[0] ?? null) : null
  if (ids.length === 0) return { edits: [], begun: [], cancelled: [], responses: [] }
  const slots = [dayOf(after.getTime() - REACH), dayOf(before.getTime() + REACH)] as const
  const [edits, future, begun, cancelled, responses] = await Promise.all([
    on.query(EDITS, uid, address, after, before, ...slots, eventId),
    on.query(FUTURE_EDITS, uid, address, slots[1], ids),
    on.query(BEGUN_DATES, uid, after, before, ...slots, eventId),
    on.query(CANCELLED_DATES, uid, after, before, ...slots, eventId),
    on.query(OWN_RESPONSES, uid, address, ...slots, eventId),
  ])
  if (Math.max(edits.length, begun.length, cancelled.length, responses.length) > MOST_ROWS) {
    throw tooWide('The window has too many changed dates; ask for a narrower one')
  }
  return { edits: [...edits, ...future], begun, cancelled, responses }
}

/** The day of an instant, to compare slots with; years that slots do not have are the nearest that they have. */
function dayOf(time: number): string {
  const text = new Date(time).toISOString()
  if (text.startsWith('-')) return '0000-01-01'
  return text.startsWith('+') ? '9999-12-32' : text.slice(0, 10)
}
