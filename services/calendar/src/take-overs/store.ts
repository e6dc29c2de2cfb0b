import type { Caller } from '@restante/contracts/access'
import { sql, type Tx } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'

const LOCK_FOR_CHANGES = sql<unknown, [organizationId: string]>(
  `select pg_advisory_xact_lock_shared(hashtextextended('take-over of ' || $1, 0))`,
)
const LOCK_FOR_TAKE_OVER = sql<unknown, [organizationId: string]>(
  `select pg_advisory_xact_lock(hashtextextended('take-over of ' || $1, 0))`,
)
const MARK_TAKE_OVER = sql<unknown, [organizationId: string, takeOvers: number]>(`
insert into take_overs (organization_id, take_overs) values ($1, $2)
on conflict (organization_id) do update
   set take_overs = greatest(take_overs.take_overs, excluded.take_overs), heard_at = excluded.heard_at`)
const SUPERSEDED = sql<{ take_overs: number }, [organizationId: string, takeOvers: number]>(
  'select take_overs from take_overs where organization_id = $1 and take_overs > $2',
)

/** Records a confirmed take-over of an organization, when changes of what it ends that are in progress have ended. */
export async function recordTakeOver(tx: Tx, organizationId: string, takeOvers: number): Promise<void> {
  await tx.query(LOCK_FOR_TAKE_OVER, organizationId)
  await tx.query(MARK_TAKE_OVER, organizationId, takeOvers)
}

/**
 * Keys from before a take-over that was confirmed since the gateway admitted the request change nothing (identity 5.1).
 * None is confirmed until the transaction ends. @throws ApiError 401
 */
export async function requireCurrent(
  tx: Tx,
  { organization_id, take_overs = 0 }: Pick<Caller, 'organization_id' | 'take_overs'>,
): Promise<void> {
  await tx.query(LOCK_FOR_CHANGES, organization_id)
  if ((await tx.query(SUPERSEDED, organization_id, take_overs)).length > 0) throw new ApiError('unknown_api_key')
}
