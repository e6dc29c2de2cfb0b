import { LIMITS } from '@restante/contracts/vocabulary'
import { networkOf } from '@restante/service/connections'
import { type Exchange, sendJson } from '@restante/service/http'
import { exchangeCode } from '../codes/exchange.ts'
import { countFailure, RateLimitedError } from '../codes/rates.ts'
import { type Parameters, readForm } from '../http/forms.ts'
import { OAuthError, PublicError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import { countOutcome } from '../transactions/metrics.ts'
import { authenticateClient } from './client-authentication.ts'
import type { ProviderOptions } from './deps.ts'

/** RFC 7636 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/

/** Where apps exchange codes (apps 6.5). */
export function tokenRoutes(options: ProviderOptions): PublicRoute[] {
  return [
    {
      method: 'POST',
      path: '/v0/token',
      operation: 'signin.token',
      serve: async (exchange) => {
        const document = await token(options, exchange).catch((error: unknown) => {
          throw asOAuthError(error)
        })
        countOutcome('exchanged')
        sendJson(exchange.response, 200, document)
      },
    },
  ]
}

async function token(options: ProviderOptions, exchange: Exchange): Promise<object> {
  const { db, authBase: issuer } = options
  const { request, facts } = exchange
  const form = await readForm(exchange)
  if (form.repeated.length > 0) throw invalidRequest('Send each parameter once')
  const network = networkOf(options.addressOf(request))
  const { client, claimant } = await authenticateClient(options, { request, form, network })
  facts['client_id'] = client.clientId
  const exchanged = await exchangeCode({ ...options, issuer }, { client, ...grantOf(form) })
  if (exchanged.kind === 'tokens') {
    const { accessToken, idToken, scopes } = exchanged
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: LIMITS.app.token / 1_000,
      id_token: idToken,
      scope: scopes.join(' '),
    }
  }
  facts['refused'] = exchanged.because
  await countFailure(db, claimant)
  throw new OAuthError(400, 'invalid_grant', 'The code is unknown, used or expired, or belongs to another request')
}

/** @throws OAuthError 400 */
function grantOf(form: Parameters): { code: string; redirectUri: string; verifier: string } {
  const type = form.get('grant_type')
  if (type === undefined) throw invalidRequest('Send grant_type=authorization_code')
  if (type !== 'authorization_code') {
    throw new OAuthError(400, 'unsupported_grant_type', 'The only grant_type is authorization_code')
  }
  const [code, redirectUri, verifier] = [form.get('code'), form.get('redirect_uri'), form.get('code_verifier')]
  if (code === undefined || redirectUri === undefined || verifier === undefined) {
    throw invalidRequest('Send code, redirect_uri and code_verifier')
  }
  if (!VERIFIER.test(verifier)) throw invalidRequest('code_verifier has 43 to 128 characters of A-Z a-z 0-9 - . _ ~')
  return { code, redirectUri, verifier }
}

function invalidRequest(message: string): OAuthError {
  return new OAuthError(400, 'invalid_request', message)
}

/** Every refusal in the form of RFC 6749 5.2. */
function asOAuthError(error: unknown): unknown {
  if (error instanceof RateLimitedError) {
    countOutcome('limited')
    const headers = { 'retry-after': String(error.retryAfter) }
    return new OAuthError(429, 'temporarily_unavailable', `${error.message}. Wait as Retry-After says`, headers)
  }
  if (!(error instanceof PublicError)) return error
  countOutcome(error.code)
  return error instanceof OAuthError ? error : new OAuthError(error.status, error.code, error.message, error.headers)
}
