import { type Queryable, sql } from '@restante/service/database'
import type { BegunDateRow, CancelledDateRow, DateResponseRow, EditRow, EventRow, EventState } from '../model/rows.ts'
import { selected } from './columns.ts'

type One = [inboxUid: string, eventId: string]
type Of = [inboxUid: string, eventIds: readonly string[]]

const FIND = `select ${selected('events')} from events where inbox_uid = $1 and id = $2`
const EVENT = sql<EventRow, One>(FIND)
const LOCKED_EVENT = sql<EventRow, One>(`${FIND} for update`)
const EVENTS = sql<EventRow, Of>(
  `select ${selected('events')} from events where inbox_uid = $1 and id = any($2::uuid[])`,
)
const BY_UID = sql<{ id: string; recurrence_id: string }, [inboxUid: string, uid: string]>(
  'select id, recurrence_id from events where inbox_uid = $1 and uid = $2',
)

const EDITS = sql<EditRow, Of>(
  `select ${selected('edits')} from edits where inbox_uid = $1 and event_id = any($2::uuid[])
    order by event_id, slot collate "C"`,
)
// Only the end of a date that runs is told with its snapshot, which has up to 100 KB.
const BEGUN = sql<BegunDateRow, Of>(
  `select ${selected('begun_dates').replace('snapshot', "case when state = 'running' then snapshot end as snapshot")} from begun_dates where inbox_uid = $1 and event_id = any($2::uuid[])
    order by event_id, slot collate "C"`,
)
const CANCELLED = sql<CancelledDateRow, Of>(
  `select ${selected('cancelled_dates')} from cancelled_dates where inbox_uid = $1 and event_id = any($2::uuid[])
    order by event_id, slot collate "C"`,
)
const RESPONSES = sql<DateResponseRow, Of>(
  `select ${selected('date_responses')} from date_responses where inbox_uid = $1 and event_id = any($2::uuid[])
    order by event_id, slot collate "C", email collate "C"`,
)

export interface LoadOptions {
  /** Locks the event, so that nothing of it changes until the transaction ends. Default: false. */
  readonly lock?: boolean
}

/** An event of a calendar, without its dates. */
export async function loadEvent(
  on: Queryable,
  inboxUid: string,
  eventId: string,
  { lock = false }: LoadOptions = {},
): Promise<EventRow | undefined> {
  const [event] = await on.query(lock ? LOCKED_EVENT : EVENT, inboxUid, eventId)
  return event
}

/**
 * An event with all that is stored of its dates. The dates are read after the event was locked: what another transaction
 * changed of them before is among them.
 */
export async function loadState(
  on: Queryable,
  inboxUid: string,
  eventId: string,
  options: LoadOptions = {},
): Promise<EventState | undefined> {
  const event = await loadEvent(on, inboxUid, eventId, options)
  return event && (await withDates(on, inboxUid, [event]))[0]
}

/** Several events, each with all that is stored of its dates; those that do not exist are missing. */
export async function loadStates(on: Queryable, inboxUid: string, ids: readonly string[]): Promise<EventState[]> {
  return ids.length === 0 ? [] : withDates(on, inboxUid, await on.query(EVENTS, inboxUid, ids))
}

/** The event of a calendar that has an iCalendar UID, or those dates of it that are known without their series. */
export function findByUid(
  on: Queryable,
  inboxUid: string,
  uid: string,
): Promise<{ readonly id: string; readonly recurrence_id: string }[]> {
  return on.query(BY_UID, inboxUid, uid)
}

async function withDates(on: Queryable, inboxUid: string, events: readonly EventRow[]): Promise<EventState[]> {
  const ids = events.map(({ id }) => id)
  const [edits, begun, cancelled, responses] = await Promise.all([
    on.query(EDITS, inboxUid, ids),
    on.query(BEGUN, inboxUid, ids),
    on.query(CANCELLED, inboxUid, ids),
    on.query(RESPONSES, inboxUid, ids),
  ])
  const of =
    (id: string) =>
    ({ event_id }: { readonly event_id: string }) =>
      event_id === id
  return events.map((event) => ({
    event,
    edits: edits.filter(of(event.id)),
    begun: begun.filter(of(event.id)),
    cancelled: cancelled.filter(of(event.id)),
    responses: responses.filter(of(event.id)),
  }))
}
