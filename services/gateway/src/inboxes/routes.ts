import type { OperationId } from '@restante/contracts'
import {
  ApiError,
  type Cursors,
  type Handlers,
  invalid,
  isInScope,
  type KeyedMutex,
  KeysetPage,
  notFound,
  organizationScope,
  type ScopeFilter,
  scopeFilter,
} from '@restante/service'
import { credentialActor } from '../audit/actor.ts'
import type { Db } from '../database.ts'
import type { Inbox } from '../generated/prisma/client.ts'
import { byCreation } from '../keyset-condition.ts'
import { write, writeHolding } from '../organizations/writes.ts'
import { requirePod } from '../pods/store.ts'
import { inboxChanged, type TenancyEvents } from '../tenancy/events.ts'
import type { GatewayTimers } from '../timers.ts'
import { type AddressRules, createInbox } from './create.ts'
import { deleteInbox } from './delete.ts'
import { refuseSystemName } from './display-names.ts'
import { inboxDocument } from './document.ts'
import { stillInherited } from './inheritance.ts'
import { mergeMetadata, metadataFromRow, sameMetadata } from './metadata.ts'
import { type FoundInbox, searchInboxes } from './search.ts'
import { changeInbox, findInbox, listInboxes, locationOf, lockInbox } from './store.ts'

export interface InboxDependencies {
  readonly db: Db
  readonly turns: KeyedMutex
  readonly cursors: Cursors
  readonly events: TenancyEvents
  readonly addresses: AddressRules
  readonly timers: GatewayTimers
  /** How long a deleted address is reserved against other organizations, in milliseconds. */
  readonly retiredAddressMs: number
}

type Ids = Extract<OperationId, `inboxes.${string}`>

export function inboxRoutes(deps: InboxDependencies): Pick<Handlers<'gateway'>, Ids> {
  const { db, cursors, events, addresses } = deps
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
      const { client_id: clientId, username, domain, metadata } = body
      const row = await writeHolding(deps, caller, async (tx, organization) => {
        await requirePod(tx, caller)
        const known =
          clientId === undefined ? undefined : await lockInbox(tx, organizationScope(caller.organization_id), clientId)
        if (known !== undefined) return sameClient(known, scopeFilter(caller))
        const paused = body.status === 'paused'
        const given = { podId, username, domain, displayName: body.display_name, clientId, paused, metadata }
        return createInbox(tx, deps, organization, given)
      })
      return inboxDocument(row)
    },

    'inboxes.update': async ({ caller, params, body }) => {
      const row = await write(deps, caller, async (tx) => {
        const target = await lockInbox(tx, scopeFilter(caller), params.inbox_id)
        if (target === undefined) throw notFound('Inbox')
        if (isOnSharedDomain(target, addresses)) refuseSystemName(body.display_name, addresses.systemSender.name)
        const current = metadataFromRow(target.metadata)
        const metadata = mergeMetadata(current, body.metadata)
        if (metadata === undefined) throw invalid(['metadata'], 'Must have at most 256 keys, existing ones included')
        const displayName = body.display_name === undefined ? target.displayName : body.display_name || null
        const status = body.status ?? target.status
        const inherited = stillInherited(target.inherited, body)
        const unchanged =
          displayName === target.displayName && status === target.status && sameMetadata(metadata, current)
        if (unchanged && inherited.length === target.inherited.length) return target
        const changed = await changeInbox(tx, target, { displayName, status, metadata, inherited })
        await events.record(tx, inboxChanged(changed))
        return changed
      })
      return inboxDocument(row)
    },

    'inboxes.delete': async (request) => {
      const { caller, params } = request
      await writeHolding(deps, caller, async (tx) => {
        const target = await lockInbox(tx, scopeFilter(caller), params.inbox_id)
        if (target === undefined) throw notFound('Inbox')
        await deleteInbox(tx, deps, target, credentialActor(request), new Date())
      })
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

function isOnSharedDomain({ address }: Inbox, { sharedDomains }: AddressRules): boolean {
  return sharedDomains.has(address.slice(address.lastIndexOf('@') + 1))
}
