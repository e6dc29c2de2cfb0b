import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import type { ResponseOf } from '@restante/contracts/operations'
import type { Outbox } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { ApiError, invalid, notFound } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import type { KeyRing } from '@restante/service/secrets'
import { holdScopes } from '@restante/tenancy'
import { type Client, clientOf } from '../apps/find.ts'
import { asksOwner } from '../consents/rules.ts'
import { ownerCovered, recordAgentConsent } from './agent-consent.ts'
import { findConnectable } from './connectable.ts'
import { cancelKey, mintKey, type NewKey } from './mint.ts'
import { answerOnce, sealAnswer } from './once.ts'
import { type Claim, completeKey } from './replays.ts'
import { requireAdmitted, requireVerified } from './rules.ts'
import { insertTicket, linkExpiry, newTicket } from './tickets.ts'

export interface ConnectOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly outbox: Outbox
  readonly authBase: string
  /** Seals the answers that are kept for repeated requests. */
  readonly ring: KeyRing
}

export interface ConnectRequest {
  readonly caller: Caller
  /** The app as the path names it. */
  readonly app: string
  readonly inboxId: string | undefined
  readonly acceptDisclosure: boolean
  readonly idempotencyKey: string | undefined
}

type SignInLink = ResponseOf<'apps.connect'>

/** Begins a sign-in: creates a pending sign-in key, and a link that works once (apps 2). */
export function connect(options: ConnectOptions, request: ConnectRequest): Promise<SignInLink> {
  requireVerified(request.caller)
  const { caller, app, inboxId = null, acceptDisclosure, idempotencyKey } = request
  if (idempotencyKey === undefined) return createLink(options, request, undefined)
  const parts = [caller.credential.id, app, inboxId, acceptDisclosure]
  const keyed = { organizationId: caller.organization_id, idempotencyKey, parts }
  return answerOnce(options, keyed, (claim) => createLink(options, request, claim))
}

/** The checks of apps 2 in their order, then the key, then the link. */
async function createLink(
  options: ConnectOptions,
  request: ConnectRequest,
  claim: Claim | undefined,
): Promise<SignInLink> {
  const { db, gateway } = options
  const { caller, acceptDisclosure } = request
  const client = clientOf(await findConnectable(db, request.app))
  const inbox = await findInbox(gateway, request)
  const { scopes } = client
  await requireAdmitted(db, { caller, client, inboxUid: inbox.inboxUid, scopes, acceptDisclosure })
  const ownerHash = acceptDisclosure ? await ownerCovered(gateway, inbox.inboxUid, scopes) : null
  const { organization_id: organizationId, credential } = caller
  const apiKeyId = claim?.apiKeyId ?? randomUUID()
  const expiresAt = await linkExpiry(db)
  const sharesOwner = acceptDisclosure && asksOwner(scopes)
  const placed = { organizationId, inboxUid: inbox.inboxUid }
  const key = { apiKeyId, ...placed, credentialId: credential.id, expiresAt, sharesOwner }
  await mintOrCancel(gateway, key)
  try {
    return await storeLink(options, { client, inbox, key, ownerHash, acceptDisclosure, claim })
  } catch (error) {
    // After any other error it is unknown whether the link was stored.
    if (error instanceof ApiError) await cancelKey(gateway, apiKeyId)
    throw error
  }
}

/** When the answer is lost the key may exist, and nothing will ever refer to it. */
async function mintOrCancel(gateway: ServiceClient<'apps-signin'>, key: NewKey): Promise<void> {
  try {
    await mintKey(gateway, key)
  } catch (error) {
    if (!(error instanceof ApiError)) await cancelKey(gateway, key.apiKeyId)
    throw error
  }
}

interface Inbox {
  readonly podId: string
  readonly inboxUid: string
  readonly address: string
}

/** @throws ApiError 400 when the key is not bound to an inbox and none is named; 404 when none is found in its scope. */
async function findInbox(gateway: ServiceClient<'apps-signin'>, { caller, inboxId }: ConnectRequest): Promise<Inbox> {
  const { inbox, organization_id, pod_id } = caller
  if (inboxId === undefined) {
    if (inbox === undefined) throw invalid(['inbox_id'], 'Required, because the API key is not bound to an inbox')
    return { podId: inbox.pod_id, inboxUid: inbox.uid, address: inbox.address }
  }
  const scope = { organization_id, ...(pod_id && { pod_id }), ...(inbox && { inbox_uid: inbox.uid }) }
  const { inboxes } = await gateway.call('gateway.lookupInboxes', { ...scope, inboxes: [inboxId], pods: [] })
  const [found] = inboxes
  if (found === undefined) throw notFound('Inbox')
  return { podId: found.pod_id, inboxUid: found.inbox_uid, address: found.address }
}

interface NewLink {
  readonly client: Client
  readonly inbox: Inbox
  readonly key: NewKey
  readonly ownerHash: Uint8Array | null
  readonly acceptDisclosure: boolean
  readonly claim: Claim | undefined
}

/** Stores the ticket, the consent in advance and the answer to a repeated request in one transaction. */
async function storeLink(options: ConnectOptions, link: NewLink): Promise<SignInLink> {
  const { db, outbox, authBase, ring } = options
  const { client, inbox, key, acceptDisclosure, claim } = link
  const { apiKeyId, organizationId, credentialId, expiresAt } = key
  const ticket = newTicket()
  const answer = {
    api_key_id: apiKeyId,
    magic_url: `${authBase}/connect/${ticket}`,
    expires_at: expiresAt.toISOString(),
  }
  await db.transaction(async (tx) => {
    const placed = { organizationId, ...inbox }
    if (!(await holdScopes(tx, [inbox.inboxUid, inbox.podId, organizationId]))) throw notFound('Inbox')
    const appId = client.clientId
    await insertTicket(tx, ticket, { appId, apiKeyId, ...placed, credentialId, acceptDisclosure, expiresAt })
    if (acceptDisclosure) {
      const { scopes } = client
      const consent = { client, inbox: placed, scopes, ownerHash: link.ownerHash, credentialId }
      await recordAgentConsent(tx, outbox, { ...consent, redirectUri: null, transaction: undefined })
    }
    if (claim === undefined) return
    const sealed = sealAnswer(ring, claim, answer)
    await completeKey(tx, claim, { answer: sealed, inboxUid: inbox.inboxUid, expiresAt })
  })
  return answer
}
