import type { CallerInbox } from '@restante/contracts/access'
import { type Queryable, sql } from '@restante/service/database'
import { newCalendar, type ShownCalendar } from '../documents/index.ts'

/** The calendar's inbox with its organization. */
export interface Owner {
  readonly organizationId: string
  readonly inbox: CallerInbox
}

const COLUMNS = 'address, timezone, revision, event_count, created_at, updated_at'

const FIND = sql<ShownCalendar, [organizationId: string, inboxUid: string]>(
  `select ${COLUMNS} from calendars where organization_id = $1 and inbox_uid = $2`,
)

/** The calendar of an inbox, which need not have a row. It is as old as the inbox. */
export async function findCalendar(on: Queryable, { organizationId, inbox }: Owner): Promise<ShownCalendar> {
  const unchanged = newCalendar({ address: inbox.address, created_at: createdAt(inbox) })
  const [row] = await on.query(FIND, organizationId, inbox.uid)
  return row === undefined ? unchanged : { ...row, address: inbox.address }
}

/** A gateway of an earlier release does not say when an inbox was created. */
function createdAt({ created_at }: CallerInbox): Date {
  return created_at === undefined ? new Date() : new Date(created_at)
}

type Identity = [inboxUid: string, organizationId: string, podId: string, address: string, createdAt: Date]

const SET_TIMEZONE = sql<ShownCalendar, [...Identity, timezone: string, revision: number]>(
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
  owner: Owner,
  { timezone, revision }: { readonly timezone: string; readonly revision: number },
): Promise<ShownCalendar | undefined> {
  const [row] = await on.query(SET_TIMEZONE, ...identityOf(owner), timezone, revision)
  return row
}

const ENSURE = sql<never, Identity>(
  `insert into calendars (inbox_uid, organization_id, pod_id, address, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $5) on conflict (inbox_uid) do nothing`,
)

/** Stores the row of a calendar that has none yet. */
export async function ensureCalendar(on: Queryable, owner: Owner): Promise<void> {
  await on.query(ENSURE, ...identityOf(owner))
}

function identityOf({ organizationId, inbox }: Owner): Identity {
  return [inbox.uid, organizationId, inbox.pod_id, inbox.address, createdAt(inbox)]
}
