import { randomUUID } from 'node:crypto'
import { sql } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { KeysetPage } from '@restante/service/http'
import type { ScopeFilter } from '@restante/service/identity'
import type { Pod } from '../generated/prisma/client.ts'
import type { Db, Tx } from '../storage/database.ts'
import { behind } from '../storage/keyset-condition.ts'

export function listPods(db: Db, scope: ScopeFilter, page: KeysetPage): Promise<Pod[]> {
  return db.orm.pod.findMany({
    where: {
      organizationId: scope.organizationId,
      deletedAt: null,
      ...(scope.podId === undefined ? {} : { id: scope.podId }),
      ...behind(page.after, page.order, (id) => ({ id })),
    },
    orderBy: [{ createdAt: page.order }, { id: page.order }],
    take: page.take,
  })
}

/** The pod of a scope that is restricted to one. */
export async function getPod(db: Db, { organizationId, podId }: ScopeFilter): Promise<Pod | undefined> {
  if (podId === undefined) return undefined
  return (await db.orm.pod.findFirst({ where: { id: podId, organizationId, deletedAt: null } })) ?? undefined
}

const LOCK = sql<{ id: string }, [organizationId: string, id: string]>(
  'select id from pods where organization_id = $1 and id = $2 and deleted_at is null for no key update',
)

/** The same, locked until the end of the transaction. */
export async function lockPod(tx: Tx, { organizationId, podId }: ScopeFilter): Promise<Pod | undefined> {
  if (podId === undefined) return undefined
  const [held] = await tx.query(LOCK, organizationId, podId)
  if (held === undefined) return undefined
  const orm = await tx.orm()
  return orm.pod.findUniqueOrThrow({ where: { id: held.id } })
}

/** The live pod with this alias. */
export async function findPodByClientId(tx: Tx, organizationId: string, clientId: string): Promise<Pod | undefined> {
  const orm = await tx.orm()
  return (await orm.pod.findFirst({ where: { organizationId, clientId, deletedAt: null } })) ?? undefined
}

export interface NewPod {
  readonly organizationId: string
  readonly name: string
  readonly clientId?: string | undefined
}

/**
 * Inserts a pod. The caller holds the organization and has checked that the alias is free; a unique index ensures it.
 */
export async function insertPod(tx: Tx, { organizationId, name, clientId }: NewPod, now: Date): Promise<Pod> {
  const orm = await tx.orm()
  return orm.pod.create({
    data: { id: randomUUID(), organizationId, name, clientId: clientId ?? null, createdAt: now, updatedAt: now },
  })
}

/** Renames a pod that is locked. */
export async function renamePod(tx: Tx, id: string, name: string): Promise<Pod> {
  const orm = await tx.orm()
  return orm.pod.update({ where: { id }, data: { name, version: { increment: 1 }, updatedAt: new Date() } })
}

const MARK_DELETED = sql<never, [id: string, now: string]>(`
update pods
   set deleted_at = $2, updated_at = $2, version = version + 1, name = '', client_id = null
 where id = $1`)

/** Turns a locked pod into a tombstone without its names, which its inboxes' tombstones refer to. */
export async function markPodDeleted(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.query(MARK_DELETED, id, now.toISOString())
}

const COUNT = sql<{ count: number }, [organizationId: string]>(
  'select count(*)::int as count from pods where organization_id = $1 and deleted_at is null',
)

/** Refuses a pod beyond the limit of an organization. The caller holds the organization, so that the count is exact. */
export async function refuseBeyondPodLimit(tx: Tx, organizationId: string, limit: number | undefined): Promise<void> {
  if (limit === undefined) return
  const [live] = await tx.query(COUNT, organizationId)
  if ((live?.count ?? 0) < limit) return
  throw new ApiError('limit_exceeded', {
    message: 'Pod limit exceeded',
    fix: "Delete a pod or raise the installation's limit.",
    details: { resource: 'pod', limit },
  })
}
