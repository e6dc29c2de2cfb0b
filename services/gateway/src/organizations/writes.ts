import type { Caller } from '@restante/contracts/access'
import type { KeyedMutex } from '@restante/service/concurrency'
import { sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { Organization } from '../generated/prisma/client.ts'
import type { Db, Tx } from '../storage/database.ts'
import { lockOrganization } from './store.ts'

export interface Writes {
  readonly db: Db
  readonly turns: KeyedMutex
}

/** The caller on whose behalf something is changed. */
export type Writer = Pick<Caller, 'organization_id' | 'take_overs'>

const HOLD = sql<{ take_overs: number }, [id: string]>('select take_overs from organizations where id = $1 for share')

/**
 * Changes something of an organization, in one transaction. The changes of one organization are serialized within a
 * process: they wait for the same rows, and this way many of them hold one connection of the pool instead of all. No
 * take-over can commit concurrently: nothing that a request of an earlier key writes can come after it (identity 5.1).
 * @throws ApiError 503 when the wait is too long; 401 when the organization is deleted, or was taken over, since the
 * request's key was looked up.
 */
export function write<T>({ db, turns }: Writes, writer: Writer, work: (tx: Tx) => Promise<T>): Promise<T> {
  return turns.run(writer.organization_id, () =>
    db.transaction(async (tx) => {
      const [held] = await tx.query(HOLD, writer.organization_id)
      refuseSuperseded(writer, held?.take_overs)
      return work(tx)
    }),
  )
}

/**
 * The same with the organization's row locked, for operations that create or delete: the organization, its pods and
 * inboxes then stay as they are until the commit. Locks are taken in the order organization, pod, inbox.
 * @throws ApiError as `write`.
 */
export function writeHolding<T>(
  { db, turns }: Writes,
  writer: Writer,
  work: (tx: Tx, organization: Organization) => Promise<T>,
): Promise<T> {
  return turns.run(writer.organization_id, () =>
    db.transaction(async (tx) => work(tx, await holdOrganization(tx, writer))),
  )
}

/** Locks the organization of a request. @throws ApiError 401 when it is deleted, or was taken over since. */
export async function holdOrganization(tx: Tx, writer: Writer): Promise<Organization> {
  const organization = await lockOrganization(tx, writer.organization_id)
  refuseSuperseded(writer, organization?.takeOvers)
  if (organization === undefined) throw new ApiError('unknown_api_key')
  return organization
}

/** @param takeOvers of the organization as it is now; undefined: it is deleted. */
function refuseSuperseded({ take_overs: lookedUp = 0 }: Writer, takeOvers: number | undefined): void {
  if (takeOvers !== lookedUp) throw new ApiError('unknown_api_key')
}
