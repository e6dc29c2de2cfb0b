import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import type { Outbox } from '@restante/messaging'
import { type Database, hashedUuid } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { holdScopes } from '@restante/tenancy'
import { type Client, findClient } from '../apps/find.ts'
import { asksOwner } from '../consents/rules.ts'
import { bindByAgent } from '../transactions/steps.ts'
import { findByAuthToken, type Transaction } from '../transactions/store.ts'
import { ownerCovered, recordAgentConsent } from './agent-consent.ts'
import { cancelKey, mintKey } from './mint.ts'
import { authTokenRefused } from './refusals.ts'
import { requireAdmitted, requireVerified } from './rules.ts'
import { linkExpiry } from './tickets.ts'

export interface AuthorizeOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly outbox: Outbox
  /** Whether clients without a registration may sign inboxes in. */
  readonly openClients: boolean
}

export interface AuthorizeRequest {
  readonly caller: Caller
  readonly authToken: string
  readonly acceptDisclosure: boolean
}

type Authorized = ResponseOf<'apps.authorize'>

/**
 * Binds a sign-in that waits in a browser to the inbox of the path, and creates the pending key that the browser proves
 * (apps 3). Requests that are repeated, or run at once, create one key.
 */
export async function authorize(options: AuthorizeOptions, request: AuthorizeRequest): Promise<Authorized> {
  const { db } = options
  const { caller, authToken, acceptDisclosure } = request
  requireVerified(caller)
  const inbox = requireInbox(caller)
  const transaction = await findWaiting(db, authToken, inbox)
  const bound = boundBefore(transaction, caller, inbox)
  if (bound !== undefined) return bound
  const client = await findClient(db, transaction.client_id, { open: options.openClients })
  if (client === undefined) throw authTokenRefused('The app of this sign-in was removed')
  const { scopes } = transaction
  await requireAdmitted(db, { caller, client, inboxUid: inbox.uid, scopes, acceptDisclosure })
  return bind(options, { caller, inbox, transaction, client, acceptDisclosure })
}

/** @throws ApiError 400 */
async function findWaiting(db: Database, authToken: string, inbox: CallerInbox): Promise<Transaction> {
  const transaction = await findByAuthToken(db, authToken)
  if (!transaction?.live) throw authTokenRefused('No sign-in waits with this token: it is unknown, expired or finished')
  const { login_hint: hint } = transaction
  if (hint !== null && hint.toLowerCase() !== inbox.address.toLowerCase()) {
    throw authTokenRefused('The sign-in is for another inbox: authorize it with the inbox that its page names')
  }
  return transaction
}

/** The answer of the first request, to a repeated one. @throws ApiError 400 when the sign-in is bound to others. */
function boundBefore(transaction: Transaction, caller: Caller, inbox: CallerInbox): Authorized | undefined {
  const { credential_id, inbox_uid, minted_key_id, api_key_id, approved_at } = transaction
  if (credential_id === null && approved_at === null) return undefined
  // A release that does not know `minted_key_id` stores the key only in `api_key_id`, where an approval by another key
  // replaces it.
  const keyId = minted_key_id ?? (approved_at === null ? api_key_id : null)
  if (credential_id !== caller.credential.id || inbox_uid !== inbox.uid || keyId === null) {
    throw authTokenRefused('The sign-in was authorized by another API key, or for another inbox')
  }
  return authorized(keyId)
}

interface Binding {
  readonly caller: Caller
  readonly inbox: CallerInbox
  readonly transaction: Transaction
  readonly client: Client
  readonly acceptDisclosure: boolean
}

async function bind(options: AuthorizeOptions, binding: Binding): Promise<Authorized> {
  const { db, gateway } = options
  const { caller, inbox, transaction, acceptDisclosure } = binding
  const { scopes, auth_token } = transaction
  const ownerHash = acceptDisclosure ? await ownerCovered(gateway, inbox.uid, scopes) : null
  const { apiKeyId, expiresAt } = await pendingKey(db, binding)
  const { organization_id: organizationId, credential } = caller
  const sharesOwner = acceptDisclosure && asksOwner(scopes)
  const placed = { organizationId, inboxUid: inbox.uid }
  await mintKey(gateway, { apiKeyId, ...placed, credentialId: credential.id, expiresAt, sharesOwner })
  if (await store(options, binding, apiKeyId, ownerHash)) return authorized(apiKeyId)
  // Another request has bound it, or it has ended. The key is needed only if that was the same request, made concurrently.
  const found = await findByAuthToken(db, auth_token)
  if (found?.minted_key_id !== apiKeyId) await cancelKey(gateway, apiKeyId)
  return boundBefore(await findWaiting(db, auth_token, inbox), caller, inbox) ?? unbound()
}

/** @returns false when the sign-in is no longer free. */
function store(
  { db, outbox }: AuthorizeOptions,
  { caller, inbox, transaction, client, acceptDisclosure }: Binding,
  apiKeyId: string,
  ownerHash: Uint8Array | null,
): Promise<boolean> {
  const { jti, scopes, redirect_uri: redirectUri } = transaction
  const placed = { organizationId: caller.organization_id, podId: inbox.pod_id, inboxUid: inbox.uid }
  const { address } = inbox
  const credentialId = caller.credential.id
  return db.transaction(async (tx) => {
    if (!(await holdScopes(tx, [inbox.uid, inbox.pod_id, caller.organization_id]))) throw notFound('Inbox')
    const bound = await bindByAgent(tx, { jti, ...placed, address, credentialId, apiKeyId, acceptDisclosure })
    if (bound === undefined) return false
    if (acceptDisclosure) {
      const consent = { client, inbox: placed, scopes, redirectUri, ownerHash, credentialId, transaction: jti }
      await recordAgentConsent(tx, outbox, consent)
    }
    return true
  })
}

/**
 * The key that this request creates. Its id is computed from the minute, so that requests that run at once create one key,
 * and a request that is repeated after one that died binds none that is about to expire. Of two keys that were created
 * around a full minute, one is bound and the other cancelled.
 */
async function pendingKey(
  db: Database,
  { caller, inbox, transaction }: Binding,
): Promise<{ readonly apiKeyId: string; readonly expiresAt: Date }> {
  const ofLink = await linkExpiry(db)
  const minute = Math.floor(ofLink.getTime() / 60_000)
  const seed = `sign-in ${transaction.jti} ${caller.credential.id} ${inbox.uid} ${minute}`
  const expiresAt = new Date(Math.min(ofLink.getTime(), transaction.expires_at.getTime()))
  return { apiKeyId: hashedUuid(seed), expiresAt }
}

function authorized(apiKeyId: string): Authorized {
  return { api_key_id: apiKeyId, instructions: 'Authorization complete. Return to browser.' }
}

function unbound(): never {
  throw authTokenRefused('The sign-in has ended')
}
