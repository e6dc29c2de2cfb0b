import {
  type ApiKey,
  type Caller,
  type CallerCredential,
  isPermission,
  LIMITS,
  type OperationId,
  type RequestOf,
} from '@restante/contracts'
import { ApiError, type Cursors, type Handlers, invalid, notFound } from '@restante/service'
import { type Actor, credentialActor } from '../audit/actor.ts'
import type { Db } from '../database.ts'
import { type InboxScope, lockInbox } from '../inboxes/store.ts'
import { ListPage } from '../lists.ts'
import { lockOrganization } from '../organizations/store.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import {
  type Grant,
  grantForNew,
  grantForUpdate,
  permissionsOnWire,
  type Rights,
  rightsFromRow,
  sameRights,
} from './grants.ts'
import type { Secrets } from './secrets.ts'
import {
  type BoundCredential,
  type CredentialScope,
  changeCredential,
  findCredential,
  issueCredential,
  listCredentials,
  lockCredential,
  refuseBeyondLimit,
  revokeCredentials,
} from './store.ts'

export interface CredentialDependencies {
  readonly db: Db
  readonly cursors: Cursors
  readonly events: TenancyEvents
  readonly secrets: Secrets
  /** Live keys that an organization may have. */
  readonly limit: number
}

type Ids = Extract<OperationId, `apiKeys.${string}`>

export function credentialRoutes(deps: CredentialDependencies): Pick<Handlers<'gateway'>, Ids> {
  const { db, cursors, events } = deps
  return {
    'apiKeys.list': async ({ caller, query }) => {
      const scope = scopeOf(caller)
      const page = new ListPage(cursors, ['apiKeys.list', scope, query.type ?? null], query)
      const notExpiredBefore = new Date(Date.now() - LIMITS.apiKey.listedAfterExpiry)
      const rows = await listCredentials(db, scope, { type: query.type, notExpiredBefore }, page)
      const { items, members } = page.answer(rows, (row) => row, apiKeyDocument)
      return { ...members, api_keys: items }
    },

    'apiKeys.get': async ({ caller, params }) => {
      const row = await findCredential(db, scopeOf(caller), params.api_key_id)
      if (row === undefined) throw notFound('API key')
      return apiKeyDocument(row)
    },

    'apiKeys.create': async (request) => createKey(deps, request.caller, request.body, credentialActor(request)),

    'apiKeys.update': async (request) => {
      const { caller, params, body } = request
      const row = await db.transaction(async (tx) => {
        const target = await lockCredential(tx, scopeOf(caller), params.api_key_id)
        if (target === undefined) throw notFound('API key')
        const before = rightsFromRow(target)
        const rights = accept(grantForUpdate(rightsOf(caller.credential), before, body.permissions))
        const name = body.name ?? target.name
        if (name === target.name && sameRights(rights, before)) return target
        return changeCredential(tx, events, target, { name, rights }, credentialActor(request))
      })
      return apiKeyDocument(row)
    },

    'apiKeys.delete': async (request) => {
      const { caller, params } = request
      await db.transaction(async (tx) => {
        const target = await lockCredential(tx, scopeOf(caller), params.api_key_id)
        if (target === undefined) throw notFound('API key')
        await revokeCredentials(tx, events, { id: target.id }, { actor: credentialActor(request), now: new Date() })
      })
    },
  }
}

async function createKey(
  deps: CredentialDependencies,
  caller: Caller,
  body: RequestOf<'apiKeys.create'>['body'],
  actor: Actor,
) {
  const rights = accept(grantForNew(rightsOf(caller.credential), body.permissions))
  const expiresAt = expiryOf(caller.credential, body.expires_at)
  const scope = scopeOf(caller)
  const { row, secret } = await deps.db.transaction(async (tx) => {
    if ((await lockOrganization(tx, caller.organization_id)) === undefined) throw new ApiError('unknown_api_key')
    // A delete of the inbox holds the same lock; what it committed since the path was resolved shows here.
    if (caller.inbox !== undefined && !(await lockInbox(tx, inboxOf(caller), caller.inbox.address))) {
      throw notFound('Inbox')
    }
    await refuseBeyondLimit(tx, caller.organization_id, deps.limit)
    const name = body.name ?? LIMITS.name.default
    return issueCredential(tx, deps, { scope, name, rights, expiresAt }, actor, new Date())
  })
  const { type: _type, updated_at: _updatedAt, ...shown } = apiKeyDocument({ ...row, inbox: caller.inbox ?? null })
  return { ...shown, api_key: secret }
}

/** The new key's expiry: its own, else inherited once; never later than the creator's (identity 3.3). */
function expiryOf(creator: CallerCredential, requested: Date | undefined): Date | undefined {
  const bound = creator.expires_at === undefined ? undefined : new Date(creator.expires_at)
  if (requested === undefined) return bound
  if (requested.getTime() <= Date.now()) throw invalid(['expires_at'], 'Must be in the future')
  if (bound === undefined || requested <= bound) return requested
  throw new ApiError('permission_escalation', {
    message: 'A key cannot outlive the key that creates it',
    fix: `Choose an expires_at of at most ${bound.toISOString()}.`,
  })
}

function accept(grant: Grant): Rights {
  switch (grant.outcome) {
    case 'granted':
      return grant.rights
    case 'unrestricted_required':
      throw new ApiError('unrestricted_key_required')
    case 'escalation':
      throw new ApiError('permission_escalation', {
        fix: `The credential does not hold: ${grant.missing.join(', ')}. Leave these out, or use a key that holds them.`,
      })
  }
}

/** The scope that the path and the caller's own tier leave: where a key is made, and which keys are seen (identity 3.1). */
function scopeOf(caller: Caller): CredentialScope {
  return { organizationId: caller.organization_id, podId: caller.pod_id, inboxUid: caller.inbox?.uid }
}

function inboxOf(caller: Caller): InboxScope {
  return { organizationId: caller.organization_id, uid: caller.inbox?.uid }
}

function rightsOf(credential: CallerCredential): Rights {
  const permissions = credential.permissions === undefined ? undefined : credential.permissions.filter(isPermission)
  return { permissions: permissions && new Set(permissions), appConnect: credential.app_connect }
}

/** A key as list, get and update show it; never the secret (identity 3.2). */
function apiKeyDocument(row: BoundCredential): ApiKey {
  return {
    type: 'bearer',
    api_key_id: row.id,
    prefix: row.prefix,
    name: row.name,
    ...(row.tier === 'pod' && row.podId !== null ? { pod_id: row.podId } : {}),
    ...(row.tier === 'inbox' && row.inbox !== null ? { inbox_id: row.inbox.address } : {}),
    permissions: permissionsOnWire(rightsFromRow(row)),
    used_at: row.usedAt?.toISOString(),
    expires_at: row.expiresAt?.toISOString(),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
