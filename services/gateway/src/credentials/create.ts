import type { Caller } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import type { BearerKey, CreatedApiKey, CreatedBearerKey, PublicKeyCredential } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { KeyedMutex } from '@restante/service/concurrency'
import { ApiError, invalid, notFound } from '@restante/service/errors'
import { organizationScope, scopeFilter } from '@restante/service/identity'
import type { Actor } from '../audit/actor.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { rightsFromRow } from '../identity/rights.ts'
import { lockInbox } from '../inboxes/store.ts'
import { writeHolding } from '../organizations/writes.ts'
import { requirePod } from '../pods/references.ts'
import type { Db, Tx } from '../storage/database.ts'
import type { TenancyEvents } from '../tenancy/events.ts'
import { bearerDocument, publicKeyDocument } from './documents.ts'
import { grantForNew, grantForNewPublicKey } from './grants.ts'
import { type CredentialScope, issueCredential, registerCredential } from './insert.ts'
import { refuseBeyondLimit } from './limit.ts'
import { fingerprintOf } from './public-keys.ts'
import { accept } from './refusals.ts'
import type { Secrets } from './secrets.ts'
import { type BoundCredential, findByClientId, findCaller } from './store.ts'

export interface CreateOptions {
  readonly db: Db
  readonly turns: KeyedMutex
  readonly events: TenancyEvents
  readonly secrets: Secrets
  /** Live credentials that an organization may have. */
  readonly limit: number
}

type Body = RequestOf<'apiKeys.create'>['body']
type BearerBody = Exclude<Body, { public_key: unknown }>
type PublicKeyBody = Extract<Body, { public_key: unknown }>

/** Creates a bearer key or registers a public key, depending on the body (identity 3.3). */
export function createCredential(
  deps: CreateOptions,
  caller: Caller,
  body: Body,
  actor: Actor,
): Promise<CreatedApiKey> {
  return 'public_key' in body
    ? registerPublicKey(deps, caller, body, actor)
    : createBearerKey(deps, caller, body, actor)
}

async function createBearerKey(
  deps: CreateOptions,
  caller: Caller,
  body: BearerBody,
  actor: Actor,
): Promise<CreatedBearerKey> {
  const scope = scopeFilter(caller)
  const { row, secret } = await writeHolding(deps, caller, async (tx, organization) => {
    await requireScope(tx, caller)
    const creator = await findCaller(tx, caller)
    const rights = accept(grantForNew(rightsFromRow(creator), body.permissions))
    const expiresAt = expiryOf(creator, body.expires_at)
    await refuseBeyondLimit(tx, deps.events, organization, deps.limit)
    const name = body.name ?? LIMITS.name.default
    const given = { scope, name, rights, expiresAt, signUp: creator.signUp }
    return issueCredential(tx, deps, given, actor, new Date())
  })
  return { ...withoutKind(bearerDocument(bound(row, caller))), api_key: secret }
}

async function registerPublicKey(
  deps: CreateOptions,
  caller: Caller,
  body: PublicKeyBody,
  actor: Actor,
): Promise<PublicKeyCredential> {
  const { public_key: jwk, client_id: clientId } = body
  const fingerprint = await fingerprintOf(jwk)
  const scope = scopeFilter(caller)
  const row = await writeHolding(deps, caller, async (tx, organization) => {
    await requireScope(tx, caller)
    const known = clientId === undefined ? undefined : await findByClientId(tx, scope.organizationId, clientId)
    if (known !== undefined) return sameRegistration(known, scope, fingerprint)
    const creator = await findCaller(tx, caller)
    const rights = accept(grantForNewPublicKey(rightsFromRow(creator), body.permissions))
    const expiresAt = expiryOf(creator, body.expires_at)
    await refuseBeyondLimit(tx, deps.events, organization, deps.limit)
    const name = body.name ?? `Agent key ${fingerprint.slice(0, 8)}`
    const identity = { jwk, fingerprint, clientId, createdBy: creator.id }
    const given = { scope, name, rights, expiresAt, ...identity, signUp: creator.signUp }
    return bound(await registerCredential(tx, deps.events, given, actor, new Date()), caller)
  })
  return publicKeyDocument(row)
}

/**
 * Deletions of pods and inboxes lock the organization too; what they committed since the path was resolved is visible
 * here.
 */
async function requireScope(tx: Tx, caller: Caller): Promise<void> {
  const { organization_id: organizationId, inbox } = caller
  if (inbox === undefined) return requirePod(tx, caller)
  if ((await lockInbox(tx, { ...organizationScope(organizationId), inboxUid: inbox.uid }, inbox.address)) === undefined)
    throw notFound('Inbox')
}

/**
 * A repeated registration returns the existing key, as it is now; any other use of the alias is a conflict (identity
 * 1.1).
 */
function sameRegistration(known: BoundCredential, scope: CredentialScope, fingerprint: string): BoundCredential {
  const sameScope = known.podId === (scope.podId ?? null) && known.inboxUid === (scope.inboxUid ?? null)
  if (sameScope && known.fingerprint === fingerprint) return known
  throw new ApiError('conflict', {
    message: 'This client_id belongs to another key or another scope',
    fix: 'Choose another client_id, or omit it.',
  })
}

/** The new key's expiry: its own, otherwise inherited once; never later than the creator's (identity 3.3). */
function expiryOf({ expiresAt: bound }: Credential, requested: Date | undefined): Date | undefined {
  if (requested === undefined) return bound ?? undefined
  if (requested.getTime() <= Date.now()) throw invalid(['expires_at'], 'Must be in the future')
  if (bound === null || requested <= bound) return requested
  throw new ApiError('permission_escalation', {
    message: 'A key cannot outlive the key that creates it',
    fix: `Choose an expires_at of at most ${bound.toISOString()}.`,
  })
}

function bound(row: Credential, { inbox }: Caller): BoundCredential {
  return { ...row, inbox: inbox ?? null }
}

function withoutKind({ type: _type, updated_at: _updatedAt, used_at: _usedAt, ...shown }: BearerKey) {
  return shown
}
