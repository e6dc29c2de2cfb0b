import { isLoopback, networkOf } from '@restante/service/connections'
import type { Exchange } from '@restante/service/http'
import { allowsRedirect, type Client, findClient } from '../apps/find.ts'
import { countBeginning, RateLimitedError } from '../codes/rates.ts'
import { setCookie } from '../http/cookies.ts'
import { Parameters, readForm } from '../http/forms.ts'
import { PublicError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { redirect, sendPage } from '../http/response.ts'
import { waitingPage } from '../pages/index.ts'
import { COOKIE_SECONDS } from '../transactions/cookie-values.ts'
import { countOutcome } from '../transactions/metrics.ts'
import { createTransaction, type Transaction } from '../transactions/store.ts'
import { checkRequest, stateOf } from './authorization-request.ts'
import { callback } from './callback.ts'
import type { ProviderOptions } from './deps.ts'

/** Where apps begin a sign-in (apps 6.3). */
export function authorizeRoutes(options: ProviderOptions): PublicRoute[] {
  const common = { path: '/v0/authorize', operation: 'signin.authorize', page: true } as const
  return [
    { ...common, method: 'GET', serve: (exchange) => begin(options, exchange, new Parameters(exchange.search)) },
    { ...common, method: 'POST', serve: async (exchange) => begin(options, exchange, await readForm(exchange)) },
  ]
}

async function begin(options: ProviderOptions, exchange: Exchange, parameters: Parameters): Promise<void> {
  const { db, authBase: issuer } = options
  const { response, facts } = exchange
  const { client, redirectUri } = await returnAddress(options, parameters)
  facts['client_id'] = client.clientId
  const checked = checkRequest(parameters, { client, redirectUri })
  if ('error' in checked) {
    const { error, description } = checked
    facts['outcome'] = error
    countOutcome(error)
    const answer = { error, error_description: description }
    return redirect(response, callback({ redirectUri, state: stateOf(parameters), issuer }, answer))
  }
  await admit(options, exchange)
  const { transaction, cookie } = await createTransaction(db, checked)
  facts['transaction'] = transaction.jti
  countOutcome('started')
  setCookie(response, { ...cookie, seconds: COOKIE_SECONDS })
  sendPage(response, waitingPageOf(options, client, transaction))
}

/** @throws PublicError 429 for a network that begins too many sign-ins. */
async function admit({ db, addressOf, exemptLoopback }: ProviderOptions, { request }: Exchange): Promise<void> {
  const address = addressOf(request)
  if (exemptLoopback && isLoopback(address)) return
  try {
    await countBeginning(db, networkOf(address))
  } catch (error) {
    if (!(error instanceof RateLimitedError)) throw error
    const headers = { 'retry-after': String(error.retryAfter) }
    throw new PublicError(429, 'limited', 'Too many sign-ins begin here. Wait a minute, then start again.', headers)
  }
}

/**
 * The client, and the redirect URI at which it may be answered. Without both nothing is ever redirected: the address could
 * be an attacker's.
 * @throws PublicError 400
 */
async function returnAddress(
  { db, openClients }: ProviderOptions,
  parameters: Parameters,
): Promise<{ readonly client: Client; readonly redirectUri: string }> {
  const clientId = parameters.get('client_id')
  const client = clientId === undefined ? undefined : await findClient(db, clientId, { open: openClients })
  if (client === undefined) {
    throw new PublicError(400, 'invalid_client', 'The app that sent you here is not known: its client_id is wrong.')
  }
  const redirectUri = parameters.get('redirect_uri')
  if (redirectUri === undefined || !allowsRedirect(client, redirectUri)) {
    throw new PublicError(
      400,
      'invalid_redirect_uri',
      'The app that sent you here asked for an answer at an address that it has not registered.',
    )
  }
  return { client, redirectUri }
}

/** The page of a sign-in that no key has proven yet (apps 7.1). */
export function waitingPageOf({ authBase, publicUrl }: ProviderOptions, client: Client, transaction: Transaction) {
  const { jti, auth_token, redirect_uri, scopes, expires_at, login_hint, prompt } = transaction
  return waitingPage({
    app: { name: client.name ?? null, host: URL.parse(redirect_uri)?.host ?? client.host ?? '' },
    clientId: client.clientId,
    redirectUri: redirect_uri,
    scopes,
    jti,
    authToken: auth_token,
    expiresAt: expires_at,
    loginHint: login_hint,
    promptNone: prompt === 'none',
    authBase,
    apiBase: publicUrl,
  })
}
