import type { OperationId } from '@restante/contracts/operations'
import type { Pod as PodDocument } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeyedMutex } from '@restante/service/concurrency'
import { notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import type { Pod } from '../generated/prisma/client.ts'
import { write, writeHolding } from '../organizations/writes.ts'
import type { Db } from '../storage/database.ts'
import { byCreation } from '../storage/keyset-condition.ts'
import { podChanged, type TenancyEvents } from '../tenancy/events.ts'
import { findPodByClientId, getPod, insertPod, listPods, lockPod, refuseBeyondPodLimit, renamePod } from './store.ts'

export interface PodOptions {
  readonly db: Db
  readonly turns: KeyedMutex
  readonly cursors: Cursors
  readonly events: TenancyEvents
  /** Most pods of an organization, including the default one. */
  readonly limit: number | undefined
}

type Ids = Exclude<Extract<OperationId, `pods.${string}`>, 'pods.delete'>

export function podRoutes(deps: PodOptions): Pick<Handlers<'gateway'>, Ids> {
  const { db, cursors, events } = deps
  return {
    'pods.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'pods.list', within: scope, query })
      const rows = await listPods(db, scope, page)
      const { items, members } = page.answer(rows, byCreation, podDocument)
      return { ...members, pods: items }
    },

    'pods.get': async ({ caller }) => podDocument(found(await getPod(db, scopeFilter(caller)))),

    'pods.create': async ({ caller, body }) => {
      const { organization_id: organizationId } = caller
      const { name = LIMITS.pod.defaultName, client_id: clientId } = body
      const row = await writeHolding(deps, caller, async (tx) => {
        const known = clientId === undefined ? undefined : await findPodByClientId(tx, organizationId, clientId)
        if (known !== undefined) return known
        await refuseBeyondPodLimit(tx, organizationId, deps.limit)
        const created = await insertPod(tx, { organizationId, name, clientId }, new Date())
        await events.record(tx, podChanged(created))
        return created
      })
      return podDocument(row)
    },

    'pods.update': async ({ caller, body: { name } }) => {
      const row = await write(deps, caller, async (tx) => {
        const target = found(await lockPod(tx, scopeFilter(caller)))
        if (name === target.name) return target
        const renamed = await renamePod(tx, target.id, name)
        await events.record(tx, podChanged(renamed))
        return renamed
      })
      return podDocument(row)
    },
  }
}

function found(row: Pod | undefined): Pod {
  if (row === undefined) throw notFound('Pod')
  return row
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
