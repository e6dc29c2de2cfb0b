import { type Queryable, sql } from '@restante/service/database'
import type {
  BegunDateRow,
  CancelledDateRow,
  DateResponseRow,
  EditRow,
  EventRow,
  EventState,
} from '../../model/rows.ts'
import { selected } from '../../store/columns.ts'
import { BEGUN } from './columns.ts'
import type { WantedDate } from './items.ts'
import { statesOf } from './states.ts'

const EVENTS = sql<EventRow, [inboxUid: string, ids: string[]]>(
  `select ${selected('events')}, last_slot from events where inbox_uid = $1 and id = any($2::uuid[])`,
)

/** An event with all that is written about it, and nothing of its dates. */
export async function loadWholeEvent(on: Queryable, inboxUid: string, id: string): Promise<EventRow | undefined> {
  const [event] = await on.query(EVENTS, inboxUid, [id])
  return event
}

type Wanted = [inboxUid: string, ids: string[], slots: string[]]

const EDITS = sql<EditRow, Wanted>(
  `select ${selected('edits')} from edits
    where inbox_uid = $1 and event_id = any($2::uuid[]) and (mode = 'future' or slot = any($3::text[]))
    order by event_id, slot collate "C"`,
)
const BEGUN_DATES = sql<BegunDateRow, Wanted>(
  `select ${BEGUN} from begun_dates where inbox_uid = $1 and event_id = any($2::uuid[]) and slot = any($3::text[])`,
)
const RESPONSES = sql<DateResponseRow, Wanted>(
  `select ${selected('date_responses')} from date_responses
    where inbox_uid = $1 and event_id = any($2::uuid[]) and slot = any($3::text[])`,
)
const CANCELLED_DATES = sql<CancelledDateRow, Wanted>(
  `select ${selected('cancelled_dates')} from cancelled_dates
    where inbox_uid = $1 and event_id = any($2::uuid[]) and slot = any($3::text[])`,
)

/**
 * Events, by their ids, with all that is written about them and about these dates. A one-off event is wanted with an empty
 * slot. Of other dates there may be anything or nothing: a series can have hundreds of edits of 100 KB.
 */
export async function loadWhole(
  on: Queryable,
  inboxUid: string,
  wanted: readonly WantedDate[],
): Promise<ReadonlyMap<string, EventState>> {
  const ids = [...new Set(wanted.map(({ eventId }) => eventId))]
  const edited = wanted.filter(({ slot }) => slot !== '')
  const dates = [
    [...new Set(edited.map(({ eventId }) => eventId))],
    [...new Set(edited.map(({ slot }) => slot))],
  ] as const
  if (ids.length === 0) return new Map()
  const [events, edits, begun, responses, cancelled] = await Promise.all([
    on.query(EVENTS, inboxUid, ids),
    on.query(EDITS, inboxUid, ...dates),
    on.query(BEGUN_DATES, inboxUid, ...dates),
    on.query(RESPONSES, inboxUid, ...dates),
    on.query(CANCELLED_DATES, inboxUid, ...dates),
  ])
  return new Map(statesOf(events, { edits, begun, responses, cancelled }).map((state) => [state.event.id, state]))
}

/** An event, or a date that was edited alone, at its place in the list of what is stored. */
export interface StoredKey {
  readonly event_id: string
  /** Of an event it is empty. */
  readonly slot: string
  /** The id on the wire. */
  readonly id: string
  readonly updated_at: Date
}

const DATED_ID = `event_id::text || case when strpos(slot, 'T') > 0 then '_t' else '_d' end || translate(slot, '-:', '')`

const STORED = sql<StoredKey, [inboxUid: string, updatedAt: Date | null, id: string, rows: number]>(
  `(select id as event_id, '' as slot, id::text collate "C" as id, updated_at from events
     where inbox_uid = $1
       and ($2::timestamptz is null or updated_at < $2 or updated_at = $2 and id::text collate "C" < $3)
     order by updated_at desc, id desc limit $4)
   union all
   (select event_id, slot, (${DATED_ID}) collate "C" as id, updated_at from edits
     where inbox_uid = $1 and mode = 'single'
       and ($2::timestamptz is null or updated_at < $2 or updated_at = $2 and (${DATED_ID}) collate "C" < $3)
     order by updated_at desc, id desc limit $4)
   order by updated_at desc, id desc limit $4`,
)

/** A page of the stored events of a calendar and of its edited dates, the last changed first. */
export function listStoredKeys(
  on: Queryable,
  inboxUid: string,
  after: { readonly time: Date; readonly id: string } | undefined,
  rows: number,
): Promise<StoredKey[]> {
  return on.query(STORED, inboxUid, after?.time ?? null, after?.id ?? '', rows)
}
