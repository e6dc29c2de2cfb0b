import * as openid from 'openid-client'
import type { Agent } from './agent.ts'
import { signInWithoutBrowser } from './browserless.ts'

export const CALLBACK = 'https://app.example/callback'

export interface OpenIdClient {
  readonly issuer: string
  readonly clientId: string
  readonly authentication: openid.ClientAuth
  readonly scope: string
}

/** Signs an agent in to an app that uses openid-client, which verifies whatever the protocol lets an app verify. */
export async function signIn(agent: Agent, { issuer, clientId, authentication, scope }: OpenIdClient) {
  const metadata = { id_token_signed_response_alg: 'ES256' }
  const execute = [openid.allowInsecureRequests]
  const provider = await openid.discovery(new URL(issuer), clientId, metadata, authentication, { execute })
  const checks = {
    pkceCodeVerifier: openid.randomPKCECodeVerifier(),
    expectedState: openid.randomState(),
    expectedNonce: openid.randomNonce(),
  }
  const url = openid.buildAuthorizationUrl(provider, {
    redirect_uri: CALLBACK,
    scope,
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const back = new URL(await signInWithoutBrowser(agent, url.href))
  const tokens = await openid.authorizationCodeGrant(provider, back, { ...checks, idTokenExpected: true })
  const claims = tokens.claims()
  return { claims, userInfo: await openid.fetchUserInfo(provider, tokens.access_token, claims?.sub ?? '') }
}
