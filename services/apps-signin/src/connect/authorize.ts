import type { Caller, CallerInbox } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import type { Outbox } from '@restante/messaging'
import { type Database, hashedUuid } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { holdScopes } from '@restante/tenancy'
import { type Client, findClient } from '../apps/find.ts'
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
 * (apps 3). The id of the key follows from the sign-in and the calling key: requests that are repeated, or run at once,
 * create one key.
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
  const { credential_id, inbox_uid, api_key_id, approved_at } = transaction
  if (credential_id === null && approved_at === null) return undefined
  if (credential_id !== caller.credential.id || inbox_uid !== inbox.uid || api_key_id === null) {
    throw authTokenRefused('The sign-in was authorized by another API key, or for another inbox')
  }
  return authorized(keyIdOf(transaction.jti, caller, inbox.uid))
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
  const { jti, scopes, auth_token } = transaction
  const ownerHash = acceptDisclosure ? await ownerCovered(gateway, inbox.uid, scopes) : null
  const apiKeyId = keyIdOf(jti, caller, inbox.uid)
  const expiry = await linkExpiry(db)
  const expiresAt = new Date(Math.min(expiry.getTime(), transaction.expires_at.getTime()))
  const { organization_id: organizationId, credential } = caller
  await mintKey(gateway, { apiKeyId, organizationId, inboxUid: inbox.uid, credentialId: credential.id, expiresAt })
  if (await store(options, binding, apiKeyId, ownerHash)) return authorized(apiKeyId)
  // Another request has bound it, or it has ended; where that was this agent, the key is the one just created.
  const found = await findByAuthToken(db, auth_token)
  const isOwn = found?.credential_id === credential.id && found.inbox_uid === inbox.uid
  if (!isOwn) await cancelKey(gateway, apiKeyId)
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

/** The inbox is a part of it: an attempt as another inbox, whose answer was lost, has a key of its own. */
function keyIdOf(jti: string, { credential }: Caller, inboxUid: string): string {
  return hashedUuid(`sign-in ${jti} ${credential.id} ${inboxUid}`)
}

function authorized(apiKeyId: string): Authorized {
  return { api_key_id: apiKeyId, instructions: 'Authorization complete. Return to browser.' }
}

function unbound(): never {
  throw authTokenRefused('The sign-in has ended')
}
