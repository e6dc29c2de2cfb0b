import { type Queryable, sql } from '@restante/service/database'
import { newCalendar, type ShownCalendar } from '../documents/index.ts'
import type { CalendarOwner } from '../store/index.ts'

const COLUMNS = 'address, timezone, revision, event_count, created_at, updated_at'

const FIND = sql<ShownCalendar, [organizationId: string, inboxUid: string]>(
  `select ${COLUMNS} from calendars where organization_id = $1 and inbox_uid = $2`,
)

/** The calendar of an inbox, which need not have a row. It is as old as the inbox. */
export async function findCalendar(on: Queryable, owner: CalendarOwner): Promise<ShownCalendar> {
  const { organizationId, inboxUid, address, createdAt = new Date() } = owner
  const [row] = await on.query(FIND, organizationId, inboxUid)
  return row ?? newCalendar({ address, created_at: createdAt })
}

const SET_TIMEZONE = sql<
  ShownCalendar,
  [
    inboxUid: string,
    organizationId: string,
    podId: string,
    address: string,
    createdAt: Date,
    timezone: string,
    revision: number,
  ]
>(
  `insert into calendars (inbox_uid, organization_id, pod_id, address, created_at, timezone, revision, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7 + 1, now())
   on conflict (inbox_uid) do update
     set timezone = excluded.timezone, revision = excluded.revision, updated_at = excluded.updated_at
     where calendars.revision = $7
   returning ${COLUMNS}`,
)

/** Sets the time zone of a calendar. @returns undefined when it has another revision by now. */
export async function setTimezone(
  on: Queryable,
  { inboxUid, organizationId, podId, address, createdAt = new Date() }: CalendarOwner,
  { timezone, revision }: { readonly timezone: string; readonly revision: number },
): Promise<ShownCalendar | undefined> {
  const identity = [inboxUid, organizationId, podId, address, createdAt] as const
  const [row] = await on.query(SET_TIMEZONE, ...identity, timezone, revision)
  return row
}
