import type { Caller } from '@restante/contracts/access'
import type { OperationId, RequestOf } from '@restante/contracts/operations'
import type { ApiKey, ListedPublicKey, PublicKeyCredential } from '@restante/contracts/resources'
import { notFound } from '@restante/service/errors'
import { type Handlers, KeysetPage } from '@restante/service/http'
import { isInScope, scopeFilter } from '@restante/service/identity'
import { credentialActor } from '../audit/actor.ts'
import { createCredential } from '../credentials/create.ts'
import { publicKeyDocument } from '../credentials/documents.ts'
import { type CredentialOptions, credentialRoutes } from '../credentials/routes.ts'
import { findCredential, listCredentials } from '../credentials/store.ts'
import { findByReference } from '../inboxes/references.ts'
import { findPod } from '../pods/references.ts'
import type { Db } from '../storage/database.ts'
import { byCreation } from '../storage/keyset-condition.ts'
import { revokeAllSignInKeys } from './revoke-all.ts'

type Ids = Extract<OperationId, `publicKeys.${string}` | 'apiKeys.revokeSignIn'>

/** Public keys under the paths of older clients: the ordinary operations, for public keys only (identity 3.1). */
export function publicKeyRoutes(deps: CredentialOptions): Pick<Handlers<'gateway'>, Ids> {
  const { db, cursors } = deps
  const ordinary = credentialRoutes(deps)
  const revokeAll = (request: Revoking) =>
    revokeAllSignInKeys(deps, request.caller, request.idempotencyKey, credentialActor(request))
  return {
    'publicKeys.list': async ({ caller, query }) => {
      const scope = scopeFilter(caller)
      const page = new KeysetPage(cursors, { operation: 'publicKeys.list', within: scope, query })
      const rows = await listCredentials(db, scope, 'public_key', page)
      const { items, members } = page.answer(rows, byCreation, (row) => listed(publicKeyDocument(row)))
      return { ...members, public_keys: items }
    },
    'publicKeys.create': async (request) => {
      const { scope, ...body } = request.body
      const caller = scope === undefined ? request.caller : await narrowed(db, request.caller, scope)
      return listedIfPublic(await createCredential(deps, caller, body, credentialActor(request)))
    },
    'publicKeys.update': async (request) => {
      await requirePublicKey(db, request.caller, request.params.api_key_id)
      return listedIfPublic(await ordinary['apiKeys.update'](request))
    },
    'publicKeys.delete': async (request) => {
      await requirePublicKey(db, request.caller, request.params.api_key_id)
      return ordinary['apiKeys.delete'](request)
    },
    'publicKeys.revokeSignIn': revokeAll,
    'apiKeys.revokeSignIn': revokeAll,
  }
}

interface Revoking {
  readonly caller: Caller
  readonly requestId: string
  readonly idempotencyKey: string | undefined
}

/** The type of a key never changes, so that what the ordinary operation does next is done to a public key. */
async function requirePublicKey(db: Db, caller: Caller, reference: string): Promise<void> {
  const row = await findCredential(db, scopeFilter(caller), reference)
  if (row?.type !== 'public_key') throw notFound('API key')
}

type GivenScope = NonNullable<RequestOf<'publicKeys.create'>['body']['scope']>

/** The caller within a scope that its body names. @throws ApiError 404 for one that it does not reach. */
async function narrowed(db: Db, caller: Caller, { type, id = '' }: GivenScope): Promise<Caller> {
  const own = scopeFilter(caller)
  const { organizationId } = own
  if (type === 'organization') {
    if (own.podId !== undefined) throw notFound('Organization')
    return caller
  }
  if (type === 'pod') {
    const podId = await findPod(db, organizationId, id)
    if (podId === undefined || !isInScope(own, { organizationId, podId, inboxUid: null })) throw notFound('Pod')
    return { ...caller, pod_id: podId }
  }
  const row = await findByReference(db, organizationId, id)
  if (row === undefined || !isInScope(own, { organizationId, podId: row.pod_id, inboxUid: row.uid })) {
    throw notFound('Inbox')
  }
  const inbox = { uid: row.uid, address: row.address, pod_id: row.pod_id, paused: row.status === 'paused' }
  return { ...caller, pod_id: row.pod_id, inbox }
}

function listedIfPublic(key: ApiKey | { readonly api_key: string }): ListedPublicKey {
  if ('type' in key && key.type === 'public_key') return listed(key)
  throw new TypeError('a public key is no longer one')
}

function listed(key: PublicKeyCredential): ListedPublicKey {
  if (key.inbox_id !== undefined) return { ...key, scope: { type: 'inbox', id: key.inbox_id } }
  if (key.pod_id !== undefined) return { ...key, scope: { type: 'pod', id: key.pod_id } }
  return { ...key, scope: { type: 'organization' } }
}
