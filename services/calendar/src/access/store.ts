import type { OrganizationState } from '@restante/contracts/events'
import { type Queryable, sql, type Tx } from '@restante/service/database'

const WITHOUT = sql<{ organization_id: string }, [organizationId: string]>(
  'select organization_id from calendar_access where organization_id = $1 and not access',
)
const CLOSE = sql<never, [organizationId: string, version: number]>(
  `insert into calendar_access (organization_id, access, version) values ($1, false, $2)
   on conflict (organization_id) do update set access = false, version = excluded.version
    where calendar_access.version < excluded.version`,
)
const OPEN = sql<never, [organizationId: string, version: number]>(
  'update calendar_access set access = true, version = $2 where organization_id = $1 and version < $2',
)

/**
 * Whether an organization has calendars (calendar 1), as far as this service knows. Requests with a key are refused by
 * the gateway; this is for what happens without one: feeds, received invitations, starts and ends.
 */
export async function hasCalendarAccess(on: Queryable, organizationId: string): Promise<boolean> {
  return (await on.query(WITHOUT, organizationId)).length === 0
}

/** Applies a state of an organization. One that always had calendars has no row. */
export async function applyAccess(tx: Tx, state: OrganizationState): Promise<void> {
  const { organization_id: id, calendar_access: access = true, version } = state
  await tx.query(access ? OPEN : CLOSE, id, version)
}
