import { LIMITS } from '@restante/contracts/vocabulary'
import type { Agent } from '../../../sign-in/agent.ts'
import { signInWithoutBrowser } from '../../../sign-in/browserless.ts'
import type { Endpoints } from '../../../stack/endpoints.ts'
import { type RegisteredApp, registerApp } from '../../../support/apps/registration.ts'
import { createTenant } from '../../../support/tenants.ts'
import { createInboxes } from '../inboxes.ts'
import { type Exchange, newVerifier } from './exchange.ts'

export const REDIRECT_URI = 'https://app.example/callback'
export const SCOPE = 'openid email'

export async function registerApps({ operator }: Endpoints, count: number): Promise<readonly RegisteredApp[]> {
  const apps: RegisteredApp[] = []
  while (apps.length < count) apps.push(await registerApp(operator, { redirect_uris: [REDIRECT_URI] }))
  return apps
}

/** Inboxes that each may sign in once with a new key: a bearer key may activate only so many in a day. */
export async function createAgents(endpoints: Endpoints, count: number): Promise<readonly Agent[]> {
  const agents: Agent[] = []
  while (agents.length < count) {
    const tenant = await createTenant(endpoints)
    const inboxes = await createInboxes(tenant, Math.min(LIMITS.app.activationsPerDay, count - agents.length))
    agents.push(...inboxes.map((inboxId) => ({ inboxId, api: tenant.api })))
  }
  return agents
}

/** Signs an inbox in with a new key, up to the code. */
export async function signIn(
  { signInUrl }: Endpoints,
  agent: Agent,
  { appId: clientId, clientSecret }: RegisteredApp,
): Promise<Exchange> {
  const { verifier, challenge } = newVerifier()
  const url = new URL('/v0/authorize', signInUrl)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    scope: SCOPE,
    state: 'bench',
    nonce: 'bench',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }).toString()
  const back = await signInWithoutBrowser(agent, url.href)
  const code = new URL(back).searchParams.get('code')
  if (code === null) throw new Error(`the sign-in ended without a code: ${back}`)
  return { clientId, clientSecret, redirectUri: REDIRECT_URI, code, verifier }
}
