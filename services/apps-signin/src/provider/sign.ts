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
  const proof = { transaction, inbox, apiKeyId: assertion.kid, by: 'sign_in' } as const
  if (!(await recordProof(options, proof))) {
    throw lateProof(await findTransaction(options.db, transaction.jti), inbox.inbox_uid)
  }
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
export interface Proof {
  readonly transaction: Transaction
  readonly inbox: SignInInbox
  readonly apiKeyId: string
  readonly by: 'sign_in' | 'registered'
}

const EVENT = { sign_in: 'sign_in_key', registered: 'registered_key' } as const

/** Records a proof. @returns whether it is the first, in whichever process. */
export function recordProof({ db, outbox }: ProviderOptions, proof: Proof): Promise<boolean> {
  const { transaction, inbox, apiKeyId, by } = proof
  const { jti, client_id: clientId, app_id } = transaction
  const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, address } = inbox
  const placed = { organizationId, podId, inboxUid }
  return db.transaction(async (tx) => {
    if (!(await holdScopes(tx, [inboxUid, podId, organizationId]))) return false
    const approved = await approve(tx, { jti, ...placed, address, apiKeyId, by })
    if (approved?.approved_at == null) return false
    const client = { appId: app_id ?? undefined, clientId }
    const attempt = { inbox: placed, client, transaction: jti, credentialId: apiKeyId, at: approved.approved_at }
    await outbox.add(tx, topics['apps.accounts'], signInApproved(attempt, EVENT[by]))
    return true
  })
}

/** Why a proof was not recorded: 410 for a sign-in that is over, 409 for one decided, 403 for one of another inbox. */
export function lateProof(current: Transaction | undefined, inboxUid: string): PublicError {
  if (current === undefined || (!current.live && current.ended_at === null)) return expired()
  // Another key was first, or another agent has bound it.
  const isTaken = current.inbox_uid !== null && current.inbox_uid !== inboxUid
  if (!current.live || current.approved_at !== null || isTaken) return decided()
  return new PublicError(403, 'access_denied', 'The sign-in is for another inbox')
}
