import { sql, type Tx } from '@restante/service/database'
import type { BegunDateRow, EventRow, EventState } from '../model/rows.ts'
import { selected } from '../store/columns.ts'
import { loadState } from '../store/index.ts'

interface Found extends EventRow {
  readonly address: string
  readonly has_access: boolean
}

// Changes lock the event and then its timer; an attempt holds its timer and must not wait for the event.
const LOCK = sql<Found, [id: string]>(`
select ${selected('events')}, (select address from calendars where calendars.inbox_uid = events.inbox_uid) as address,
       not exists (select from calendar_access as known
                    where known.organization_id = events.organization_id and not known.access) as has_access
  from events where id = $1 for update skip locked`)

const EXISTS = sql<{ id: string }, [id: string]>('select id from events where id = $1')

const BEGUN = sql<BegunDateRow, [inboxUid: string, eventId: string]>(
  `select ${selected('begun_dates')} from begun_dates where inbox_uid = $1 and event_id = $2`,
)

// One statement: thousands of events may start at the same minute.
const RECORD = sql<
  never,
  [inboxUid: string, eventId: string, seenUntil: Date, begun: string, ended: readonly string[]]
>(`
with seen as (update events set seen_until = $3 where inbox_uid = $1 and id = $2),
     over as (update begun_dates set state = 'ended' where inbox_uid = $1 and event_id = $2 and slot = any($5::text[]))
insert into begun_dates select * from jsonb_populate_recordset(null::begun_dates, $4::jsonb)`)

/** An event, and what is known of its inbox. */
export interface LockedEvent {
  readonly state: EventState
  /** Of the inbox. */
  readonly address: string
  /** Whether its organization has calendars (calendar 1). */
  readonly hasAccess: boolean
}

/**
 * Locks an event, unless a change holds it, and reads what is stored of it. A timer knows only the event.
 * @returns `locked` when a change holds it; undefined when it is gone.
 */
export async function lockEvent(tx: Tx, id: string): Promise<LockedEvent | 'locked' | undefined> {
  const [found] = await tx.query(LOCK, id)
  if (found === undefined) return (await tx.query(EXISTS, id)).length > 0 ? 'locked' : undefined
  const { address, has_access: hasAccess, ...event } = found
  const state = event.kind === 'single' ? await oneOff(tx, event) : await loadState(tx, event.inbox_uid, id)
  return state && { state, address, hasAccess }
}

/** Of a one-off nothing else is stored that matters here. */
async function oneOff(tx: Tx, event: EventRow): Promise<EventState> {
  const begun = await tx.query(BEGUN, event.inbox_uid, event.id)
  return { event, begun, edits: [], cancelled: [], responses: [] }
}

/** What is to be recorded of an event. */
export interface Recorded {
  /** Dates that have begun. */
  readonly begun: readonly BegunDateRow[]
  /** Slots of dates that ran and have ended. */
  readonly ended: readonly string[]
  readonly seenUntil: Date
}

export async function record(tx: Tx, event: EventRow, { begun, ended, seenUntil }: Recorded): Promise<void> {
  await tx.query(RECORD, event.inbox_uid, event.id, seenUntil, JSON.stringify(begun), ended)
}
