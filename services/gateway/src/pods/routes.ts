import type { Pod as PodDocument } from '@restante/contracts'
import { type Cursors, type Handlers, notFound } from '@restante/service'
import type { Db } from '../database.ts'
import type { Pod } from '../generated/prisma/client.ts'
import { ListPage } from '../lists.ts'
import { findPod, listPods } from './store.ts'

export interface PodDependencies {
  readonly db: Db
  readonly cursors: Cursors
}

export function podRoutes({ db, cursors }: PodDependencies): Pick<Handlers<'gateway'>, 'pods.list' | 'pods.get'> {
  return {
    'pods.list': async ({ caller, query }) => {
      const scope = { organizationId: caller.organization_id, podId: caller.pod_id }
      const page = new ListPage(cursors, ['pods.list', scope], query)
      const rows = await listPods(db, scope, page)
      const { items, members } = page.answer(rows, (row) => row, podDocument)
      return { ...members, pods: items }
    },

    'pods.get': async ({ caller, params }) => {
      const id = await findPod(db, caller.organization_id, params.pod_id)
      if (id === undefined || (caller.pod_id !== undefined && caller.pod_id !== id)) throw notFound('Pod')
      const row = await db.orm.pod.findUnique({ where: { id } })
      if (row === null) throw notFound('Pod')
      return podDocument(row)
    },
  }
}

function podDocument(row: Pod): PodDocument {
  return {
    pod_id: row.id,
    name: row.name,
    client_id: row.clientId ?? undefined,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
