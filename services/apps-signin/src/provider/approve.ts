import type { SignInFacts } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Exchange } from '@restante/service/http'
import { isAccountDisabled } from '../accounts/store.ts'
import { admitSignUp } from '../apps/sign-ups.ts'
import { isUsable, standingOf } from '../codes/standing.ts'
import { readJsonBytes } from '../http/page-calls.ts'
import { PublicError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { APPROVAL, Assertion } from '../jose/assertions.ts'
import { hasExactly, stringMembers } from '../jose/canonical.ts'
import { findTransaction, type Transaction } from '../transactions/store.ts'
import type { ProviderOptions } from './deps.ts'
import { decided, expired } from './own-transaction.ts'
import { lateProof, recordProof } from './sign.ts'

const MEMBERS = ['assertion', 'inbox_id'] as const
const MOST_JTI = 128
const MOST_ADDRESS = 254

/** Where a program without a browser approves a sign-in with its registered key (apps 8). */
export function approveRoutes(options: ProviderOptions): PublicRoute[] {
  if (!options.signedApproval) return []
  return [
    {
      method: 'POST',
      path: '/v0/authorize/approve',
      operation: 'signin.approve',
      serve: async (exchange) => {
        await approveBySignature(options, exchange)
        exchange.response.writeHead(204).end()
      },
    },
  ]
}

/** The order of the checks is that of apps 8. */
async function approveBySignature(options: ProviderOptions, exchange: Exchange): Promise<void> {
  const { db, gateway } = options
  const { text, inboxId } = await readApproval(exchange)
  const assertion = new Assertion(text, APPROVAL)
  exchange.facts['credential_id'] = assertion.kid
  const inbox = { address: inboxId }
  const found = await gateway.call('gateway.getSignInFacts', { api_key_id: assertion.kid, used: false })
  const claims = await assertion.verify(registeredJwk(found))
  if (claims.inbox_id !== inboxId || !isWithin(claims.jti, MOST_JTI)) {
    throw malformed('The claim inbox_id must be that of the body, and jti the id of a sign-in')
  }
  const transaction = await findTransaction(db, claims.jti)
  if (transaction === undefined) throw new PublicError(404, 'not_found', 'There is no such sign-in')
  exchange.facts['transaction'] = transaction.jti
  exchange.facts['client_id'] = transaction.client_id
  if (!transaction.live && transaction.ended_at === null) throw expired()
  const facts = await gateway.call('gateway.getSignInFacts', { api_key_id: assertion.kid, inbox, used: true })
  if (isRepeated(transaction, assertion.kid, facts)) return
  if (!transaction.live || transaction.approved_at !== null) throw decided()
  await approveWith(options, { transaction, facts })
}

interface Checked {
  readonly transaction: Transaction
  readonly facts: SignInFacts
}

async function approveWith(options: ProviderOptions, { transaction, facts }: Checked): Promise<void> {
  const standing = standingOf(facts)
  if (typeof standing === 'string') {
    throw denied('The key does not stand for this inbox: its scope, its permission app_connect, or the organization')
  }
  const { credential, inbox } = standing
  const { client_id, app_id: appId } = transaction
  if (await isAccountDisabled(options.db, client_id, inbox.inbox_uid))
    throw denied('The account at this app is disabled')
  if (appId !== null) {
    const at = { appId, organizationId: inbox.organization_id, inboxUid: inbox.inbox_uid }
    const limit = await options.db.transaction((tx) => admitSignUp(tx, at))
    if (limit !== undefined) throw denied('No further inbox of the organization may sign up at this app')
  }
  const apiKeyId = credential.api_key_id
  if (await recordProof(options, { transaction, inbox, apiKeyId, by: 'registered' })) return
  const current = await findTransaction(options.db, transaction.jti)
  if (current === undefined || !isRepeated(current, apiKeyId, facts)) throw lateProof(current, inbox.inbox_uid)
}

/** @throws PublicError 400 for a request with any other way of saying who sends it, or of any other form. */
async function readApproval(exchange: Exchange): Promise<{ text: string; inboxId: string }> {
  const { authorization, cookie } = exchange.request.headers
  if (authorization !== undefined || cookie !== undefined) {
    throw malformed('The assertion alone says who approves: send neither Authorization nor Cookie')
  }
  const members = stringMembers(await readJsonBytes(exchange))
  const { assertion: text = '', inbox_id: inboxId = '' } = Object.fromEntries(members ?? [])
  if (members === undefined || !hasExactly(members, MEMBERS) || !isWithin(inboxId, MOST_ADDRESS)) {
    throw malformed('The body must be exactly {"assertion": "<compact JWS>", "inbox_id": "<address>"}')
  }
  if (text.length > LIMITS.app.assertion) throw malformed(`An assertion has at most ${LIMITS.app.assertion} bytes`)
  return { text, inboxId }
}

function registeredJwk({ credential }: SignInFacts) {
  return credential?.family === 'registered' && isUsable(credential) ? credential.jwk : undefined
}

/** Whether the same key has approved the sign-in for the same inbox before. */
function isRepeated({ approved_at, api_key_id, inbox_uid }: Transaction, kid: string, { inbox }: SignInFacts): boolean {
  return (
    approved_at !== null && api_key_id === kid.toLowerCase() && inbox !== undefined && inbox.inbox_uid === inbox_uid
  )
}

function isWithin(text: string, most: number): boolean {
  return text.length > 0 && text.length <= most
}

function malformed(message: string): PublicError {
  return new PublicError(400, 'invalid_request', message)
}

function denied(message: string): PublicError {
  return new PublicError(403, 'access_denied', message)
}
