import type { Page } from 'playwright-core'
import { Api } from '../support/api.ts'
import { codeFor } from '../support/mail.ts'
import { signUp } from '../support/organizations.ts'
import type { Suite } from '../support/suite.ts'
import { keyIn, newUsername } from '../support/tenants.ts'

/** An agent with an inbox, and a key that may sign in. */
export interface Agent {
  readonly inboxId: string
  readonly api: Api
}

/** An inbox of the organization of the suite, and an unrestricted key. */
export async function newAgent({ tenant }: Suite, displayName?: string): Promise<Agent> {
  const { inboxId } = await tenant.client.inboxes.create({
    username: newUsername('agent'),
    ...(displayName !== undefined && { displayName }),
  })
  return { inboxId, api: tenant.api }
}

/** An agent whose human has confirmed it, with a key that must not share who the human is. */
export async function ownedAgent(suite: Suite, human: string): Promise<Agent> {
  const { api, inboxId } = await signUp(suite, human)
  await api.post('/v0/agent/verify', { otp_code: await codeFor(suite.peer, human) })
  const { body } = await api.post('/v0/api-keys', { permissions: { app_connect: true, inbox_read: true } })
  return { inboxId, api: new Api(suite.endpoints.gatewayUrl, keyIn(String(body['api_key']))) }
}

/** Begins a sign-in by a link. */
export async function connect(agent: Agent, appId: string, more: object = {}): Promise<{ url: string; keyId: string }> {
  const { status, body } = await agent.api.post(`/v0/apps/${appId}/connect`, { inbox_id: agent.inboxId, ...more })
  expect([status, body]).toEqual([202, expect.anything()])
  return { url: String(body['magic_url']), keyId: String(body['api_key_id']) }
}

/** Lets the sign-in go on that waits in a page, as an agent does that reads the page. */
export async function authorize(agent: Agent, page: Page, more: object = {}): Promise<string> {
  await page.locator('[data-state=waiting]').waitFor({ state: 'visible' })
  const content = await page.locator('meta[name="agentid-session-action"]').getAttribute('content')
  const { authorize_endpoint: endpoint, auth_token } = JSON.parse(content ?? '')
  const { pathname } = new URL(String(endpoint).replace('{inbox_id}', encodeURIComponent(agent.inboxId)))
  const { status, body } = await agent.api.post(pathname, { auth_token, ...more })
  expect([status, body]).toEqual([200, expect.objectContaining({ instructions: expect.any(String) })])
  return String(body['api_key_id'])
}

/** The link by which an owner was asked. */
export async function ownerLink({ peer }: Suite, human: string): Promise<string> {
  const isQuestion = /Allow .* to see who you are/
  const { parsed } = await peer.server.next(human, { matches: (mail) => isQuestion.test(mail.parsed.subject ?? '') })
  const [link] = /http:\S+\/owner\/\S+/.exec(parsed.text ?? '') ?? []
  if (link === undefined) throw new Error('the mail has no link')
  return link
}
