import type { KeyedMutex } from '@restante/service/concurrency'
import { notFound } from '@restante/service/errors'
import type { Handlers, ServiceClient } from '@restante/service/http'
import { scopeFilter } from '@restante/service/identity'
import { credentialActor } from '../audit/actor.ts'
import { countDomains } from '../domains/count-domains.ts'
import { lockInbox } from '../inboxes/store.ts'
import { writeHolding } from '../organizations/writes.ts'
import { lockPod } from '../pods/store.ts'
import type { Db } from '../storage/database.ts'
import { deleteInbox, type InboxDeletion } from './delete-inbox.ts'
import { deletePod } from './delete-pod.ts'

export interface DeletionOptions extends InboxDeletion {
  readonly db: Db
  readonly turns: KeyedMutex
  readonly domainsDns: ServiceClient<'gateway'>
}

/** The operations that delete: they are apart because a deletion reaches into the capabilities that hang on its target. */
export function deletionRoutes(deps: DeletionOptions): Pick<Handlers<'gateway'>, 'inboxes.delete' | 'pods.delete'> {
  return {
    'inboxes.delete': async (request) => {
      const { caller, params } = request
      await writeHolding(deps, caller, async (tx) => {
        const target = await lockInbox(tx, scopeFilter(caller), params.inbox_id)
        if (target === undefined) throw notFound('Inbox')
        await deleteInbox(tx, deps, target, credentialActor(request), new Date())
      })
    },

    'pods.delete': async (request) => {
      const { caller } = request
      const { podId } = scopeFilter(caller)
      // Asked before the transaction, because that holds the organization, for which all its other changes wait.
      const domains = podId === undefined ? 0 : await countDomains(deps.domainsDns, caller.organization_id, podId)
      await writeHolding(deps, caller, async (tx) => {
        const target = await lockPod(tx, scopeFilter(caller))
        if (target === undefined) throw notFound('Pod')
        await deletePod(tx, deps.events, { row: target, domains }, credentialActor(request), new Date())
      })
    },
  }
}
