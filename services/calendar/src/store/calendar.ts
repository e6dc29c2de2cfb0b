import { type Queryable, sql, type Tx } from '@restante/service/database'
import type { CalendarRow } from '../model/rows.ts'

/** The identities of a calendar. */
export interface CalendarOwner {
  readonly organizationId: string
  readonly podId: string
  readonly inboxUid: string
  readonly address: string
  /** Of the inbox. A gateway of an earlier release does not say when that was. */
  readonly createdAt?: Date | undefined
}

const COLUMNS = 'inbox_uid, organization_id, pod_id, address, timezone, revision, event_count, created_at, updated_at'

const TOUCH = sql<
  CalendarRow,
  [inboxUid: string, organizationId: string, podId: string, address: string, createdAt: Date, added: number]
>(
  `insert into calendars (inbox_uid, organization_id, pod_id, address, created_at, updated_at, event_count)
   values ($1, $2, $3, $4, $5, $5, greatest($6, 0))
   on conflict (inbox_uid) do update set event_count = greatest(calendars.event_count + $6, 0)
   returning ${COLUMNS}`,
)
const TIMEZONE = sql<{ timezone: string }, [organizationId: string, inboxUid: string]>(
  'select timezone from calendars where organization_id = $1 and inbox_uid = $2',
)

/**
 * Counts events that were added to a calendar, or taken out of it. A calendar without a row gets one. Its row stays locked
 * until the transaction ends.
 */
export async function touchCalendar(tx: Tx, owner: CalendarOwner, added: number): Promise<CalendarRow> {
  const { inboxUid, organizationId, podId, address, createdAt = new Date() } = owner
  const [row] = await tx.query(TOUCH, inboxUid, organizationId, podId, address, createdAt, added)
  if (row === undefined) throw new Error('a calendar that was stored has no row')
  return row
}

/** The time zone of new events of a calendar (calendar 1). */
export async function timezoneOf(
  on: Queryable,
  { organizationId, inboxUid }: Pick<CalendarOwner, 'organizationId' | 'inboxUid'>,
): Promise<string> {
  return (await on.query(TIMEZONE, organizationId, inboxUid))[0]?.timezone ?? 'UTC'
}
