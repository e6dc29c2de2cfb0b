import { ApiError, type Turns } from '@restante/service'
import type { Db, Tx } from '../database.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { lockOrganization } from './store.ts'

export interface Writes {
  readonly db: Db
  readonly turns: Turns
}

/**
 * Changes something of an organization, in one transaction. The changes of one organization run one after the other
 * within a process: they wait for the same rows, and a crowd of them holds one connection of the pool instead of all.
 * @throws ApiError 503 when its turn does not come.
 */
export function write<T>({ db, turns }: Writes, organizationId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return turns.run(organizationId, () => db.transaction(work))
}

/**
 * The same with the organization's row held, for whatever creates or deletes: what is seen of the organization, its
 * pods and inboxes then stays as it is until the commit. Locks are taken in the order organization, pod, inbox.
 * @throws ApiError 401 when the organization is gone since the request's key was looked up.
 */
export function writeHolding<T>(
  writes: Writes,
  organizationId: string,
  work: (tx: Tx, organization: Organization) => Promise<T>,
): Promise<T> {
  return write(writes, organizationId, async (tx) => {
    const organization = await lockOrganization(tx, organizationId)
    if (organization === undefined) throw new ApiError('unknown_api_key')
    return work(tx, organization)
  })
}
