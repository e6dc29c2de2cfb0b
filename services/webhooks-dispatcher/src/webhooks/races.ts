import type { Caller } from '@restante/contracts/access'
import type { Queryable, Tx } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { deletedAmong } from '@restante/tenancy'
import { type Filters, isSuperseded } from './store.ts'

/**
 * Keys from before a take-over that happened since the gateway admitted the request change nothing, and get nothing
 * that the successor created (identity 5.1).
 */
export async function requireCurrent(on: Queryable, caller: Caller): Promise<void> {
  if (await isSuperseded(on, caller.organization_id, caller.take_overs ?? 0)) throw new ApiError('unknown_api_key')
}

/** Reads for a caller. What was read is checked afterwards: then nothing of a successor can be among it. */
export async function readFor<T>(on: Queryable, caller: Caller, read: () => Promise<T>): Promise<T> {
  const found = await read()
  await requireCurrent(on, caller)
  return found
}

/**
 * The gateway admitted the request, and resolved its ids, a moment ago. A scope deleted since then must not return as a
 * filter.
 * @param podId the pod that the webhook belongs to.
 */
export async function requireLiving(
  tx: Tx,
  organizationId: string,
  filters: Filters,
  podId: string | undefined = undefined,
): Promise<void> {
  const pods = [...filters.podIds, ...(podId === undefined ? [] : [podId])]
  const inboxes = filters.inboxes.map(({ uid }) => uid)
  const deleted = await deletedAmong(tx, [organizationId, ...pods, ...inboxes])
  if (deleted.has(organizationId)) throw new ApiError('unknown_api_key')
  if (deleted.size > 0) throw notFound(pods.some((id) => deleted.has(id)) ? 'Pod' : 'Inbox')
}
