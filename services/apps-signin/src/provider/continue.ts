import { type Exchange, sendJson } from '@restante/service/http'
import { allowsRedirect, findClient } from '../apps/find.ts'
import { endRefused, issueCode, refuseEarly } from '../codes/issue.ts'
import { type BoundTransaction, isBound } from '../consents/bound.ts'
import type { Proven } from '../consents/gate.ts'
import { passConsent } from '../consents/pass.ts'
import { clearCookie } from '../http/cookies.ts'
import { Parameters } from '../http/forms.ts'
import { PublicError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { redirect, sendPage } from '../http/response.ts'
import { cookieNameOf } from '../transactions/cookie-values.ts'
import { findByCookie } from '../transactions/cookies.ts'
import { countOutcome } from '../transactions/metrics.ts'
import type { Transaction } from '../transactions/store.ts'
import { waitingPageOf } from './authorize.ts'
import { callback, errorCallback } from './callback.ts'
import type { ProviderOptions } from './deps.ts'
import { decided, expired, notOwn, readOwnCall } from './own-transaction.ts'

/** Where a sign-in goes on after each decision, and where a page gives up (apps 6.1). */
export function continueRoutes(options: ProviderOptions): PublicRoute[] {
  return [
    {
      method: 'GET',
      path: '/v0/authorize/continue',
      operation: 'signin.continue',
      serve: (exchange) => goOn(options, exchange),
    },
    {
      method: 'POST',
      path: '/v0/authorize/decline',
      operation: 'signin.decline',
      serve: (exchange) => decline(options, exchange),
    },
  ]
}

async function goOn(options: ProviderOptions, exchange: Exchange): Promise<void> {
  const { db, openClients } = options
  const transaction = await findByCookie(db, exchange.request, new Parameters(exchange.search).get('jti'))
  if (transaction === undefined) throw notOwn()
  exchange.facts['transaction'] = transaction.jti
  exchange.facts['client_id'] = transaction.client_id
  const client = await findClient(db, transaction.client_id, { open: openClients })
  // An address that the app has given up, or the operator taken from it, gets no answer any more.
  if (client === undefined || !allowsRedirect(client, transaction.redirect_uri)) {
    throw new PublicError(410, 'expired', 'The app that sent you here was removed.')
  }
  if (!transaction.live) return sendBack(options, exchange, transaction)
  if (!isBound(transaction)) return sendPage(exchange.response, waitingPageOf(options, client, transaction))
  return passOn(options, exchange, { transaction, client, facts: await factsOf(options, transaction) })
}

/** The gateway's facts, as of now. */
function factsOf({ gateway }: ProviderOptions, { api_key_id, inbox_uid }: BoundTransaction) {
  return gateway.call('gateway.getSignInFacts', { api_key_id, inbox: { uid: inbox_uid }, used: false })
}

/** Whatever refuses the code comes before any question, so that nobody is asked in vain. */
async function passOn(options: ProviderOptions, exchange: Exchange, proven: Proven): Promise<void> {
  const { transaction, facts } = proven
  const refused = await refuseEarly(options, { jti: transaction.jti, facts })
  if (refused !== undefined) return sendBack(options, exchange, refused)
  const passage = await passConsent(options, proven)
  if (passage.kind === 'page') return sendPage(exchange.response, passage.page)
  if (passage.kind === 'refused') {
    const { outcome, reason } = passage
    const { db, outbox } = options
    const ended = await db.transaction((tx) => endRefused(tx, outbox, { transaction, outcome, word: reason, reason }))
    if (ended === undefined) throw decided()
    return sendBack(options, exchange, ended)
  }
  const issued = await issueCode(options, { jti: transaction.jti, facts })
  if (issued.kind === 'over') throw decided()
  return sendBack(options, exchange, issued.transaction, issued.kind === 'code' ? issued.code : undefined)
}

/**
 * Sends the browser back to the app with the end of a sign-in. An error can be repeated; a code is known to the first
 * answer only.
 */
function sendBack(
  { authBase: issuer }: ProviderOptions,
  { response, facts }: Exchange,
  transaction: Transaction,
  code?: string,
): void {
  const { jti, outcome, redirect_uri: redirectUri, state } = transaction
  if (outcome === null) throw expired()
  facts['outcome'] = outcome
  if (outcome === 'code' && code === undefined) throw decided()
  countOutcome(outcome)
  if (code !== undefined) clearCookie(response, cookieNameOf(jti))
  const location =
    code === undefined ? errorCallback(transaction, issuer) : callback({ redirectUri, state, issuer }, { code })
  redirect(response, location)
}

/** A page that may not ask, in a browser without a key for the sign-in. */
async function decline(options: ProviderOptions, exchange: Exchange): Promise<void> {
  const { transaction, value } = await readOwnCall(options, exchange, 'reason')
  const { db, outbox, authBase } = options
  if (value !== 'no_key') throw new PublicError(400, 'invalid_request', 'The only reason is no_key')
  if (transaction.prompt !== 'none') throw new PublicError(400, 'invalid_request', 'The sign-in may wait for an agent')
  const word = 'no_key'
  const ended =
    transaction.outcome === 'login_required'
      ? transaction
      : await db.transaction((tx) => endRefused(tx, outbox, { transaction, outcome: 'login_required', word }))
  if (ended === undefined) throw decided()
  countOutcome('login_required')
  sendJson(exchange.response, 200, { location: errorCallback(ended, authBase) })
}
