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
import { BEGUN, CANCELLED, EDIT_ITEM, ITEM } from './columns.ts'
import type { CalendarInbox } from './inbox.ts'
import { statesOf } from './states.ts'

/** A date that is to be shown. */
export interface WantedDate {
  readonly eventId: string
  readonly slot: string
}

type Wanted = [inboxUid: string, ids: string[], slots: string[]]

const SERIES = sql<EventRow, [inboxUid: string, ids: string[]]>(
  `select ${ITEM} from events where inbox_uid = $1 and id = any($2::uuid[])`,
)
const EDITS = sql<EditRow, Wanted>(
  `select ${EDIT_ITEM} from edits
    where inbox_uid = $1 and event_id = any($2::uuid[]) and (mode = 'future' or slot = any($3::text[]))
    order by event_id, slot collate "C"`,
)
const BEGUN_DATES = sql<BegunDateRow, Wanted>(
  `select ${BEGUN} from begun_dates where inbox_uid = $1 and event_id = any($2::uuid[]) and slot = any($3::text[])`,
)
const CANCELLED_DATES = sql<CancelledDateRow, Wanted>(
  `select ${CANCELLED} from cancelled_dates
    where inbox_uid = $1 and event_id = any($2::uuid[]) and slot = any($3::text[])`,
)
const OWN_RESPONSES = sql<DateResponseRow, [...Wanted, address: string]>(
  `select ${selected('date_responses')} from date_responses
    where inbox_uid = $1 and event_id = any($2::uuid[]) and slot = any($3::text[]) and email = $4`,
)

/** What items are made from: the series of these dates, by their ids, with what is stored of the dates. */
export async function loadItems(
  on: Queryable,
  { uid, address }: CalendarInbox,
  wanted: readonly WantedDate[],
): Promise<ReadonlyMap<string, EventState>> {
  const ids = [...new Set(wanted.map(({ eventId }) => eventId))]
  const slots = [...new Set(wanted.map(({ slot }) => slot))]
  if (ids.length === 0) return new Map()
  const [events, edits, begun, cancelled, responses] = await Promise.all([
    on.query(SERIES, uid, ids),
    on.query(EDITS, uid, ids, slots),
    on.query(BEGUN_DATES, uid, ids, slots),
    on.query(CANCELLED_DATES, uid, ids, slots),
    on.query(OWN_RESPONSES, uid, ids, slots, address),
  ])
  return new Map(statesOf(events, { edits, begun, cancelled, responses }).map((state) => [state.event.id, state]))
}

const ONE_OFFS = sql<
  EventRow,
  [inboxUid: string, from: Date, before: Date, endsAfter: Date, at: Date | null, id: string, rows: number]
>(
  `select ${ITEM} from events
    where inbox_uid = $1 and kind = 'single' and status <> 'cancelled'
      and start_at >= $2 and start_at < $3 and end_at > $4
      and ($5::timestamptz is null or start_at > $5 or start_at = $5 and id::text collate "C" > $6)
    order by start_at, id limit $7`,
)

export interface OneOffsPage {
  /** The earliest start. */
  readonly from: Date
  readonly before: Date
  readonly endsAfter: Date
  /** The last item of the page before. */
  readonly position: { readonly at: Date; readonly id: string } | undefined
  readonly rows: number
}

/** A page of the one-off events of a calendar in the order of their starts. */
export function listOneOffs(
  on: Queryable,
  { uid }: CalendarInbox,
  { from, before, endsAfter, position, rows }: OneOffsPage,
): Promise<EventRow[]> {
  return on.query(ONE_OFFS, uid, from, before, endsAfter, position?.at ?? null, position?.id ?? '', rows)
}
