import type { ServerResponse } from 'node:http'
import { CLIENT_AUTHENTICATIONS, SIGN_IN_SCOPES } from '@restante/contracts/vocabulary'
import type { PublicRoute } from '../http/public-routes.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'

/** Documents that clients may keep for an hour: a key is published a day before it signs. */
const CACHED = 'public, max-age=3600'

const CLAIMS = [
  ...([
    'iss',
    'sub',
    'aud',
    'iat',
    'exp',
    'auth_time',
    'nonce',
    'jti',
    'at_hash',
    'actor_type',
    'org',
    'scope',
  ] as const),
  ...(['email', 'email_verified', 'name', 'preferred_username'] as const),
  ...(['owner_sub', 'owner_name', 'owner_email', 'owner_email_verified'] as const),
] as const

/** OpenID Connect Discovery 1.0, and RFC 8414 at its own address. */
export function discoveryRoutes(options: { readonly authBase: string; readonly keys: SigningKeys }): PublicRoute[] {
  const document = providerMetadata(options.authBase)
  const common = { method: 'GET', head: true, page: false } as const
  const discovery: Pick<PublicRoute, 'operation' | 'serve'> = {
    operation: 'signin.discovery',
    serve: async ({ response }) => sendDocument(response, document),
  }
  return [
    { ...common, ...discovery, path: '/.well-known/openid-configuration' },
    { ...common, ...discovery, path: '/.well-known/oauth-authorization-server' },
    {
      ...common,
      path: '/v0/jwks.json',
      operation: 'signin.jwks',
      serve: async ({ response }) => sendDocument(response, { keys: await options.keys.published() }),
    },
  ]
}

/** The values of apps 6.1. */
function providerMetadata(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/v0/authorize`,
    token_endpoint: `${issuer}/v0/token`,
    userinfo_endpoint: `${issuer}/v0/userinfo`,
    jwks_uri: `${issuer}/v0/jwks.json`,
    scopes_supported: SIGN_IN_SCOPES,
    claims_supported: CLAIMS,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    id_token_signing_alg_values_supported: ['ES256'],
    subject_types_supported: ['public'],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATIONS,
    authorization_response_iss_parameter_supported: true,
    prompt_values_supported: ['none', 'consent'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  }
}

function sendDocument(response: ServerResponse, document: object): void {
  const text = JSON.stringify(document)
  response.setHeader('cache-control', CACHED)
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('content-length', Buffer.byteLength(text))
  response.end(text)
}
