import { randomBytes, randomUUID } from 'node:crypto'
import type { SignInCredential } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Database, Tx } from '@restante/service/database'
import type { Exchange, ServiceClient } from '@restante/service/http'
import { holdScopes } from '@restante/tenancy'
import { type Client, findClient } from '../apps/find.ts'
import { consumeTicket, findTicket } from '../connect/tickets.ts'
import { setCookie } from '../http/cookies.ts'
import { PublicError } from '../http/public-error.ts'
import { findByCookie } from '../transactions/cookies.ts'
import { hashOf, newCookie } from './cookies.ts'
import { insertEnrollment } from './store.ts'

export interface StartOptions {
  readonly db: Database
  readonly gateway: ServiceClient<'apps-signin'>
  readonly openClients: boolean
}

/** What the browser needs to make its key. */
export interface Started {
  readonly enrollment_id: string
  readonly api_key_id: string
  readonly inbox_id: string
  readonly app: { readonly name: string | null; readonly host: string }
  readonly challenge: string
  readonly expires_at: string
}

const CHALLENGE_BYTES = 32
const COOKIE_SECONDS = LIMITS.app.link / 1_000

/**
 * Begins an enrollment: of a link, which it uses up, or of a sign-in that waits in this browser (apps 7.2, step 1).
 * @throws PublicError 400, 401, 409 or 410
 */
export function startEnrollment(
  options: StartOptions,
  exchange: Exchange,
  body: Readonly<Record<string, unknown>>,
): Promise<Started> {
  const names = Object.keys(body)
  if (names.length === 1 && names[0] === 'ticket') return startWithTicket(options, exchange, body['ticket'])
  if (names.length === 1 && names[0] === 'jti') return startWaiting(options, exchange, body['jti'])
  throw new PublicError(400, 'invalid_request', 'Send exactly one member: ticket or jti')
}

/** The ticket is used in the transaction that stores the enrollment, after everything that may fail. */
async function startWithTicket(options: StartOptions, exchange: Exchange, ticket: unknown): Promise<Started> {
  const { db } = options
  const found = await findTicket(db, ticket)
  const client = found && (await findClient(db, found.app_id, { open: false }))
  const key = found && (await pendingKey(options, found.api_key_id))
  if (found === undefined || client === undefined || key === undefined) throw gone()
  const from = { client, key, jti: null, podId: found.pod_id, address: found.address, expiresAt: found.expires_at }
  return start(options, exchange, from, async (tx) => (await consumeTicket(tx, ticket)) !== undefined)
}

async function startWaiting(options: StartOptions, exchange: Exchange, jti: unknown): Promise<Started> {
  const { db } = options
  const transaction = await findByCookie(db, exchange.request, jti)
  if (transaction === undefined) throw new PublicError(401, 'invalid_request', 'This browser did not begin the sign-in')
  if (!transaction.live) throw gone()
  const { api_key_id: keyId, credential_id, pod_id: podId, address, approved_at } = transaction
  const isWaiting = credential_id !== null && approved_at === null
  if (!isWaiting || keyId === null || podId === null || address === null) {
    throw new PublicError(409, 'invalid_request', 'No key is to be made for this sign-in')
  }
  const client = await findClient(db, transaction.client_id, { open: options.openClients })
  const key = await pendingKey(options, keyId)
  if (client === undefined || key?.expires_at === undefined) throw gone()
  const expiresAt = new Date(key.expires_at)
  return start(options, exchange, { client, key, jti: transaction.jti, podId, address, expiresAt }, async () => true)
}

/** The key as the gateway has it; undefined when it was cancelled, has expired, or is active. */
async function pendingKey({ gateway }: StartOptions, api_key_id: string): Promise<SignInCredential | undefined> {
  const { credential } = await gateway.call('gateway.getSignInFacts', { api_key_id, used: false })
  return credential?.status === 'pending' && credential.inbox_uid !== undefined ? credential : undefined
}

interface From {
  readonly client: Client
  readonly key: SignInCredential
  readonly jti: string | null
  readonly podId: string
  readonly address: string
  readonly expiresAt: Date
}

async function start(
  { db }: StartOptions,
  { response }: Exchange,
  { client, key, jti, podId, address, expiresAt }: From,
  use: (tx: Tx) => Promise<boolean>,
): Promise<Started> {
  const { api_key_id: apiKeyId, organization_id: organizationId, inbox_uid: inboxUid = '' } = key
  const id = randomUUID()
  const cookie = newCookie(id)
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url')
  const begun = { id, cookieHash: hashOf(cookie.value), challenge, apiKeyId, organizationId, inboxUid, address }
  await db.transaction(async (tx) => {
    if (!(await holdScopes(tx, [inboxUid, podId, organizationId]))) throw gone()
    if (!(await use(tx))) throw gone()
    if (!(await insertEnrollment(tx, { ...begun, jti, appId: client.appId ?? null, expiresAt }))) throw gone()
  })
  setCookie(response, { ...cookie, seconds: COOKIE_SECONDS })
  return {
    enrollment_id: id,
    api_key_id: apiKeyId,
    inbox_id: address,
    app: { name: client.name ?? null, host: client.host ?? '' },
    challenge,
    expires_at: expiresAt.toISOString(),
  }
}

function gone(): PublicError {
  return new PublicError(410, 'expired', 'The link or sign-in is no longer valid: begin again')
}
