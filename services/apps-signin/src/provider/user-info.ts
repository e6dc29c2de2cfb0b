import type { IncomingMessage } from 'node:http'
import { type Exchange, sendJson } from '@restante/service/http'
import { userInfo } from '../codes/user-info.ts'
import { OAuthError } from '../http/public-error.ts'
import type { PublicRoute } from '../http/public-routes.ts'
import type { ProviderOptions } from './deps.ts'

const BEARER = /^bearer +([\w.~+/-]+=*)$/i

/** Where apps read claims with an access token (apps 6.6). A token in a query or a form is not looked at. */
export function userInfoRoutes(options: ProviderOptions): PublicRoute[] {
  const common = { path: '/v0/userinfo', operation: 'signin.userinfo', page: false } as const
  const serve = async (exchange: Exchange) => {
    const claims = await userInfo(options, bearerOf(exchange.request))
    if (claims === undefined) throw refused('invalid_token', 'The access token is unknown, revoked or expired')
    sendJson(exchange.response, 200, claims)
  }
  return [
    { ...common, method: 'GET', serve },
    { ...common, method: 'POST', serve },
  ]
}

/** @throws OAuthError 401 */
function bearerOf({ headersDistinct }: IncomingMessage): string {
  const [header, ...others] = headersDistinct['authorization'] ?? []
  if (header === undefined) throw refused(undefined, 'Send the access token as Authorization: Bearer')
  const [, token] = (others.length === 0 && BEARER.exec(header)) || []
  if (token === undefined) throw refused('invalid_token', 'Send one access token as Authorization: Bearer')
  return token
}

/** RFC 6750 3.1: without a token there is no error code in the header. */
function refused(code: 'invalid_token' | undefined, message: string): OAuthError {
  const challenge = code === undefined ? 'Bearer realm="userinfo"' : `Bearer realm="userinfo", error="${code}"`
  return new OAuthError(401, code ?? 'invalid_token', message, { 'www-authenticate': challenge })
}
