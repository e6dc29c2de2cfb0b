/**
 * A bare oidc-provider with its memory adapter, which holds about a thousand entries. Whenever it is resumed, it stores
 * and reports codes of sign-ins, each of an account and with a grant of its own.
 */
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import { z } from 'zod'
import { newVerifier } from '../load/sign-in/exchange.ts'
import { inputOf, reportToParent } from './parent.ts'

const { codes, redirectUri, scope } = inputOf(z.object({ codes: z.int(), redirectUri: z.url(), scope: z.string() }))
const [clientId, clientSecret] = ['app', randomBytes(32).toString('base64url')]
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const configurationOf = () => ({
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_basic',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'bench' }] },
  cookies: { keys: [randomBytes(32).toString('base64url')] },
  pkce: { required: () => true },
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  // The claims of the scopes are in the ID token, too, as they are in ours.
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  findAccount: (_context: object, accountId: string) => ({
    accountId,
    claims: () => ({ sub: accountId, email: `${accountId}@inboxes.example`, email_verified: true }),
  }),
})

async function issue(provider: Provider): Promise<object> {
  const accountId = randomUUID()
  const grant = new provider.Grant({ accountId, clientId })
  grant.addOIDCScope(scope)
  const { verifier, challenge } = newVerifier()
  const code = new provider.AuthorizationCode({
    accountId,
    client: await provider.Client.find(clientId),
    grantId: await grant.save(),
    redirectUri,
    scope,
    nonce: randomUUID(),
    authTime: Math.floor(Date.now() / 1_000),
    codeChallenge: challenge,
    codeChallengeMethod: 'S256',
  })
  return { clientId, clientSecret, redirectUri, verifier, code: await code.save() }
}

const server = createServer()
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on a port')
  const issuer = `http://127.0.0.1:${address.port}`
  const provider = new Provider(issuer, configurationOf())
  server.on('request', provider.callback())
  process.on('message', async () => {
    const issued: object[] = []
    while (issued.length < codes) issued.push(await issue(provider))
    reportToParent({ issued })
  })
  reportToParent({ issuer })
})
