import type { OperationId } from '@restante/contracts/operations'
import type { KeyedMutex } from '@restante/service/concurrency'
import { ApiError, notFound } from '@restante/service/errors'
import { type Cursors, type Handlers, KeysetPage } from '@restante/service/http'
import { isInScope, organizationScope, type ScopeFilter, scopeFilter } from '@restante/service/identity'
import { type InboxDomainOptions, inboxDomain } from '../domains/inbox-domain.ts'
import type { Inbox } from '../generated/prisma/client.ts'
import { write, writeHolding } from '../organizations/writes.ts'
import { requirePod } from '../pods/references.ts'
import type { Db } from '../storage/database.ts'
import { byCreation } from '../storage/keyset-condition.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { type AddressRules, createInbox } from './create.ts'
import { inboxDocument } from './document.ts'
import { type FoundInbox, searchInboxes } from './search.ts'
import { findInbox, listInboxes, locationOf, lockInbox } from './store.ts'
import { updateInbox } from './update.ts'

export interface InboxOptions extends Pick<InboxDomainOptions, 'domainsDns'> {
  readonly db: Db
  readonly turns: KeyedMutex
  readonly cursors: Cursors
  readonly events: TenancyEvents
  readonly addresses: AddressRules
}

type Ids = Exclude<Extract<OperationId, `inboxes.${string}`>, 'inboxes.delete'>

export function inboxRoutes(deps: InboxOptions): Pick<Handlers<'gateway'>, Ids> {
  const { db, cursors } = deps
  return {
    'inboxes.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'inboxes.list', within: scope, query })
      const rows = await listInboxes(db, scope, page)
      const { items, members } = page.answer(
        rows,
        ({ createdAt, uid: id }) => byCreation({ createdAt, id }),
        inboxDocument,
      )
      return { ...members, inboxes: items }
    },

    'inboxes.search': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'inboxes.search', within: scope, query })
      const rows = await searchInboxes(db, scope, query.q, page)
      const position = (row: FoundInbox) => ({ rank: row.rank, time: row.createdAt, id: row.uid })
      const { items, members } = page.answer(rows, position, inboxDocument)
      return { ...members, inboxes: items }
    },

    'inboxes.get': async ({ caller }) => {
      // The edge has resolved the path, and checked that the caller reaches it.
      const row = caller.inbox && (await findInbox(db, caller.organization_id, caller.inbox.uid))
      if (row === undefined) throw notFound('Inbox')
      return inboxDocument(row)
    },

    'inboxes.create': async ({ caller, body }) => {
      const podId = caller.pod_id ?? caller.organization_id
      const { client_id: clientId, username, metadata } = body
      const domain = await inboxDomain(deps, { organizationId: caller.organization_id, podId, domain: body.domain })
      const row = await writeHolding(deps, caller, async (tx, organization) => {
        await requirePod(tx, caller)
        const known =
          clientId === undefined ? undefined : await lockInbox(tx, organizationScope(caller.organization_id), clientId)
        if (known !== undefined) return sameClient(known, scopeFilter(caller))
        const paused = body.status === 'paused'
        const names = { username, domain: domain(), displayName: body.display_name, clientId }
        return createInbox(tx, deps, organization, { podId, ...names, paused, metadata })
      })
      return inboxDocument(row)
    },

    'inboxes.update': async ({ caller, params, body }) => {
      const row = await write(deps, caller, async (tx) => {
        const target = await lockInbox(tx, scopeFilter(caller), params.inbox_id)
        if (target === undefined) throw notFound('Inbox')
        return updateInbox(tx, deps, target, body)
      })
      return inboxDocument(row)
    },
  }
}

/** A create that repeats a known alias answers with the resource as it is now, if the request's scope reaches it. */
function sameClient(known: Inbox, scope: ScopeFilter): Inbox {
  if (isInScope(scope, locationOf(known))) return known
  throw new ApiError('conflict', {
    message: 'This client_id is in use elsewhere in the organization',
    fix: 'Choose another client_id.',
  })
}
