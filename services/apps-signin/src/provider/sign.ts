import { createHash } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import type { SignInFacts, SignInInbox } from '@restante/contracts/internal'
import { type Exchange, sendJson } from '@restante/service/http'
import { holdScopes } from '@restante/tenancy'
import { covers, isUsable } from '../codes/standing.ts'
import { signInApproved } from '../events/events.ts'
import { PublicError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { Assertion, refusedAssertion, SIGN_IN } from '../jose/assertions.ts'
import { approve } from '../transactions/steps.ts'
import { findTransaction, type Transaction } from '../transactions/store.ts'
import { continueAt } from './callback.ts'
import type { ProviderOptions } from './deps.ts'
import { decided, expired, readOwnCall, requireUndecided } from './own-transaction.ts'

/** Where a browser proves its sign-in key (apps 7.2, step 4a). */
export function signRoutes(options: ProviderOptions): PublicRoute[] {
  return [
    {
      method: 'POST',
      path: '/v0/authorize/sign',
      operation: 'signin.sign',
      serve: (exchange) => sign(options, exchange),
    },
  ]
}

async function sign(options: ProviderOptions, exchange: Exchange): Promise<void> {
  const { transaction, value } = await readOwnCall(options, exchange, 'assertion')
  requireUndecided(transaction)
  const assertion = new Assertion(value, SIGN_IN)
  exchange.facts['credential_id'] = assertion.kid
  const inbox = await proveInbox(options, assertion, transaction)
  await approveOnce(options, { transaction, inbox, apiKeyId: assertion.kid, by: 'sign_in' })
  sendJson(exchange.response, 200, { next: continueAt(options.authBase, transaction.jti) })
}

type SignInClaim = (typeof SIGN_IN.claims)[number]

/** The inbox that an assertion proves, for this sign-in and no other. @throws PublicError 400 or 401 */
async function proveInbox(
  { gateway }: ProviderOptions,
  assertion: Assertion<SignInClaim>,
  transaction: Transaction,
): Promise<SignInInbox> {
  const address = assertion.unproven('inbox_id')
  const named = address === undefined ? {} : { inbox: { address } }
  const facts = await gateway.call('gateway.getSignInFacts', { api_key_id: assertion.kid, ...named, used: false })
  const claims = await assertion.verify(signInJwk(facts))
  const { credential, inbox } = facts
  const { jti, client_id, redirect_uri } = transaction
  const isHere = claims.jti === jti && claims.client_id === client_id
  if (!isHere || claims.redirect_uri_hash !== createHash('sha256').update(redirect_uri).digest('base64url')) {
    throw refusedAssertion('It was signed for another sign-in')
  }
  if (!credential || !inbox || inbox.address !== claims.inbox_id || !covers(credential, inbox)) {
    throw refusedAssertion('Its key is not one of that inbox')
  }
  return inbox
}

function signInJwk({ credential }: SignInFacts) {
  return credential?.family === 'sign_in' && isUsable(credential) ? credential.jwk : undefined
}

/** A proof of an inbox by a key. */
export interface Approval {
  readonly transaction: Transaction
  readonly inbox: SignInInbox
  readonly apiKeyId: string
  readonly by: 'sign_in' | 'registered'
}

const EVENT = { sign_in: 'sign_in_key', registered: 'registered_key' } as const

/**
 * Records a proof, if it is the first.
 * @throws PublicError 409 when another one was first, 410 when the time is over, 403 for another inbox than the sign-in is
 * for.
 */
export async function approveOnce({ db, outbox }: ProviderOptions, approval: Approval): Promise<void> {
  const { transaction, inbox, apiKeyId, by } = approval
  const { jti, client_id: clientId, app_id } = transaction
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, address } = inbox
  const placed = { organizationId, podId, inboxUid }
  const isFirst = await db.transaction(async (tx) => {
    if (!(await holdScopes(tx, [inboxUid, podId, organizationId]))) return false
    const approved = await approve(tx, { jti, ...placed, address, apiKeyId, by })
    if (approved?.approved_at == null) return false
    const client = { appId: app_id ?? undefined, clientId }
    const attempt = { inbox: placed, client, transaction: jti, credentialId: apiKeyId, at: approved.approved_at }
    await outbox.add(tx, topics['apps.accounts'], signInApproved(attempt, EVENT[by]))
    return true
  })
  if (isFirst) return
  const current = await findTransaction(db, jti)
  if (current === undefined) throw expired()
  requireUndecided(current)
  // Another agent has bound it, or the app wants another inbox.
  if (current.inbox_uid !== null && current.inbox_uid !== inboxUid) throw decided()
  throw new PublicError(403, 'access_denied', 'The sign-in is for another inbox')
}
