import { sql, type Tx } from '@restante/service/database'
import type { BegunDateRow, CancelledDateRow, EditRow, EventRow, EventState } from '../model/rows.ts'
import { selected } from '../store/columns.ts'

interface Found extends EventRow {
  readonly address: string
  readonly has_access: boolean
}

// Changes lock the event and then its timer; an attempt holds its timer and must not wait for the event.
const LOCK = sql<Found, [id: string]>(`
select ${selected('events')}, last_slot, (select address from calendars where calendars.inbox_uid = events.inbox_uid) as address,
       not exists (select from calendar_access as known
                    where known.organization_id = events.organization_id and not known.access) as has_access
  from events where id = $1 for update skip locked`)

const EXISTS = sql<{ id: string }, [id: string]>('select id from events where id = $1')

type Of = [inboxUid: string, eventId: string]

// Snapshots, and what edits say of their dates, have up to 100 KB each: they are read for what is due (`loadDetails`).
const BEGUN = sql<BegunDateRow, Of>(
  `select ${selected('begun_dates').replace('snapshot', 'null::jsonb as snapshot')} from begun_dates
    where inbox_uid = $1 and event_id = $2`,
)
const EDITS = sql<EditRow, Of>(
  `select ${selected('edits').replace('fields', `fields - '{title,description,location,metadata,attendees}'::text[] as fields`)}
    from edits where inbox_uid = $1 and event_id = $2 order by slot collate "C"`,
)
const CANCELLED = sql<CancelledDateRow, Of>(
  `select ${selected('cancelled_dates').replace('document', 'null::jsonb as document')} from cancelled_dates
    where inbox_uid = $1 and event_id = $2`,
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
 * Locks an event, unless a change holds it, and reads when its dates lie. A timer knows only the event.
 * @returns `locked` when a change holds it; undefined when it is gone.
 */
export async function lockEvent(tx: Tx, id: string): Promise<LockedEvent | 'locked' | undefined> {
  const [found] = await tx.query(LOCK, id)
  if (found === undefined) return (await tx.query(EXISTS, id)).length > 0 ? 'locked' : undefined
  const { address, has_access: hasAccess, ...event } = found
  return { state: await withTimes(tx, event), address, hasAccess }
}

/** Of a one-off only its begun date is stored. */
async function withTimes(tx: Tx, event: EventRow): Promise<EventState> {
  const of = [event.inbox_uid, event.id] as const
  const begun = await tx.query(BEGUN, ...of)
  if (event.kind === 'single') return { event, begun, edits: [], cancelled: [], responses: [] }
  const [edits, cancelled] = await Promise.all([tx.query(EDITS, ...of), tx.query(CANCELLED, ...of)])
  return { event, begun, edits, cancelled, responses: [] }
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
