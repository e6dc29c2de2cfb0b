import { sql, type Tx } from '@restante/service/database'
import type { ScopeFilter } from '@restante/service/identity'
import { IN_SCOPE, type Scope, scopeValues } from '../webhooks/store.ts'

const MARK_TAKE_OVER = sql<unknown, [organizationId: string, takeOvers: number]>(
  `insert into take_overs (organization_id, take_overs) values ($1, $2)
   on conflict (organization_id) do update
     set take_overs = greatest(take_overs.take_overs, excluded.take_overs), heard_at = excluded.heard_at`,
)
const FORGET_TAKE_OVERS = sql<unknown>(`delete from take_overs where heard_at < now() - interval '1 day'`)

/** Records a take-over for as long as a request that was admitted before it could still arrive. */
export async function rememberTakeOver(tx: Tx, organizationId: string, takeOvers: number): Promise<void> {
  if (takeOvers > 0) await tx.query(MARK_TAKE_OVER, organizationId, takeOvers)
  await tx.query(FORGET_TAKE_OVERS)
}

const LOCK_EARLIER_ONES = sql<{ id: string }, [organizationId: string, takeOvers: number]>(
  'select id from webhooks where organization_id = $1 and take_overs < $2 order by id for update',
)

/** Locks the webhooks from before a take-over. @returns their ids. */
export async function lockEarlier(tx: Tx, organizationId: string, takeOvers: number): Promise<string[]> {
  return (await tx.query(LOCK_EARLIER_ONES, organizationId, takeOvers)).map(({ id }) => id)
}

const LOCK_SCOPE = sql<{ id: string }, [...Scope]>(`select id from webhooks where ${IN_SCOPE} order by id for update`)

/** Locks the webhooks that belong to a scope or below it. @returns their ids. */
export async function lockScopeOf(tx: Tx, scope: ScopeFilter): Promise<string[]> {
  return (await tx.query(LOCK_SCOPE, ...scopeValues(scope))).map(({ id }) => id)
}

// The arrays of inboxes are parallel, so both lose the element at the same index.
const DROP_FROM_FILTERS = sql<{ id: string; empty: boolean }, [organizationId: string, goneId: string]>(
  `with named as (
     select id from webhooks where organization_id = $1 and ($2::uuid = any(pod_ids) or $2::uuid = any(inbox_uids))
     order by id for update)
   update webhooks set
     pod_ids = array_remove(pod_ids, $2::uuid),
     inbox_ids = array(select address from unnest(inbox_uids, inbox_ids) with ordinality as kept(uid, address, place) where uid <> $2::uuid order by place),
     inbox_uids = array_remove(inbox_uids, $2::uuid),
     updated_at = now()
   from named where webhooks.id = named.id
   returning webhooks.id, cardinality(pod_ids) = 0 and cardinality(inbox_uids) = 0 as empty`,
)

/** Removes a deleted inbox or pod from every filter. @returns webhooks that have no id left and must not widen. */
export async function removeFromFilters(tx: Tx, organizationId: string, goneId: string): Promise<string[]> {
  const changed = await tx.query(DROP_FROM_FILTERS, organizationId, goneId)
  return changed.filter(({ empty }) => empty).map(({ id }) => id)
}
