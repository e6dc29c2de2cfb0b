import { isUuid } from '@restante/contracts'
import { type Queryable, sql } from '@restante/service'
import type { Db } from '../database.ts'
import type { Pod } from '../generated/prisma/client.ts'
import type { ListPage } from '../lists.ts'

const FIND = sql<{ id: string }, [organizationId: string, id: string | null, clientId: string]>(`
select id from pods
 where organization_id = $1 and (id = $2::uuid or client_id = $3)
 order by (id = $2::uuid) is true desc
 limit 1`)

/** The pod that a path segment names: by id, else by client_id (identity 1.1). */
export async function findPod(db: Queryable, organizationId: string, reference: string): Promise<string | undefined> {
  const [found] = await db.query(FIND, organizationId, isUuid(reference) ? reference : null, reference)
  return found?.id
}

export interface PodScope {
  readonly organizationId: string
  /** Narrows the list to one pod. */
  readonly podId: string | undefined
}

export function listPods(db: Db, scope: PodScope, page: ListPage): Promise<Pod[]> {
  return db.orm.pod.findMany({
    where: {
      organizationId: scope.organizationId,
      ...(scope.podId === undefined ? {} : { id: scope.podId }),
      ...page.where((id) => ({ id })),
    },
    orderBy: [{ createdAt: page.order }, { id: page.order }],
    take: page.take,
  })
}
