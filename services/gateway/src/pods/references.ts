import type { Caller } from '@restante/contracts/access'
import { isUuid } from '@restante/contracts/vocabulary'
import { type Queryable, sql } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import type { Tx } from '../storage/database.ts'

const FIND = sql<{ id: string }, [organizationId: string, id: string | null, clientId: string]>(`
select id from pods
 where organization_id = $1 and deleted_at is null and (id = $2::uuid or client_id = $3)
 order by (id = $2::uuid) is true desc
 limit 1`)

/** The live pod that a path segment names: by id, otherwise by client_id (identity 1.1). */
export async function findPod(db: Queryable, organizationId: string, reference: string): Promise<string | undefined> {
  const [found] = await db.query(FIND, organizationId, isUuid(reference) ? reference : null, reference)
  return found?.id
}

const LIVE = sql<{ id: string }, [organizationId: string, id: string]>(
  'select id from pods where organization_id = $1 and id = $2 and deleted_at is null',
)

/** Whether a pod exists; the default one always does. */
export async function isLivePod(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  return id === organizationId || (await db.query(LIVE, organizationId, id)).length > 0
}

/**
 * Ensures that the pod which a request is restricted to still exists, before something is created in it by a
 * transaction that holds the organization: a deletion of the pod locks it too.
 * @throws ApiError 401 when it is the pod of the key itself, which ended with it; 404 when the path named it.
 */
export async function requirePod(tx: Tx, caller: Caller): Promise<void> {
  if (caller.pod_id === undefined || (await isLivePod(tx, caller.organization_id, caller.pod_id))) return
  throw caller.credential.tier === 'pod' ? new ApiError('unknown_api_key') : notFound('Pod')
}
