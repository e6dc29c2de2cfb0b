import { operations } from '@restante/contracts/operations'
import { byLength, waitFor } from '@restante/testkit'
import { Api } from '../support/api.ts'
import { newSignedInApp, newWaitingSignIn } from '../support/apps/accounts.ts'
import { invite, newEvent, newFeed, newSeries } from '../support/calendars.ts'
import { mailTo } from '../support/mail.ts'
import { newDomainName, newEntries, testDelivery } from '../support/organizations.ts'
import { registerKey } from '../support/signed.ts'
import { useSystem } from '../support/suite.ts'
import { newUsername } from '../support/tenants.ts'
import { type Findings, fuzz } from './fuzzer.ts'
import { readApiDocument } from './requests/api-document.ts'
import { KnownThings } from './requests/known-things.ts'

const SEED = 20_261_001
const REQUESTS = byLength({ short: 2_500, long: 10_000 })
const CONNECT_KEYS = 12
const SPARE_EVENTS = 12
const SPARE_FEEDS = 12

/** Operations in which these requests cannot succeed, with the reason. */
const NEVER_SUCCESSFUL: Readonly<Record<string, string>> = {
  'agent.verify': 'the code is in a mail to a human; identity.e2e reads it',
  'stream.connect': 'its success is a WebSocket; stream.e2e opens them',
}

describe(`${REQUESTS} requests made from the API document, two thirds of them wrong or odd`, () => {
  const system = useSystem()
  let findings: Findings
  let inboxId: string

  beforeAll(async () => {
    const { endpoints, tenant } = system
    const [document, known] = [await readApiDocument(endpoints.gatewayUrl), new KnownThings()]
    inboxId = (await tenant.client.inboxes.create({ clientId: 'fuzzed' })).inboxId
    await fillEstate(known)
    findings = await fuzz({
      origin: endpoints.gatewayUrl,
      document,
      known,
      keyFor: (route, draw) => {
        if (usesAgentKey(route.operationId)) return known.any('agent_key', draw)
        return beginsSignIn(route.operationId) ? known.any('connect_key', draw) : tenant.key
      },
      seed: SEED,
      requests: REQUESTS,
      concurrency: 16,
    })
  }, 600_000)

  it('are answered without a 5xx, each error in its envelope and without internal details', () => {
    const shown = findings.faults.slice(0, 10).join('\n')
    expect(`${findings.faults.length} faults\n${shown}`).toBe('0 faults\n')
  })

  const itAtFullLength = byLength({ short: it.skip, long: it })
  // Fewer requests do not reach what only a rare order of them makes possible.
  itAtFullLength('reach the code behind each operation, and succeed there', () => {
    const without = Object.values(operations)
      .map(({ id }) => id)
      .filter((id) => ![...(findings.counts.get(id)?.keys() ?? [])].some((status) => status < 300))
    expect(without.sort()).toEqual(Object.keys(NEVER_SUCCESSFUL).sort())
  })

  it('leave the connections usable for the next request', () => {
    expect(findings.connections).toBeLessThan(REQUESTS / 20)
  })

  it('leave the system working: it is ready, and mail still arrives', async () => {
    const { endpoints, tenant } = system
    const isReady = async () => (await new Api(endpoints.gatewayUrl).get('/readyz')).status === 200
    await waitFor(isReady, { what: 'the system to be ready' })
    expect(await tenant.api.patch(`/v0/inboxes/${inboxId}`, { status: 'active' })).toMatchObject({ status: 200 })
    expect((await mailTo(system, inboxId)).inboxId).toBe(inboxId)
  })

  /** One of everything that a path can name: what is kept, and what the first deletes may delete. */
  async function fillEstate(known: KnownThings): Promise<void> {
    const { endpoints, tenant, peer } = system
    const anonymous = new Api(endpoints.gatewayUrl)
    const newWebhook = () =>
      tenant.api.post(`/v0/inboxes/${inboxId}/webhooks`, { url: 'http://127.0.0.1:9/', event_types: ['message.sent'] })
    const [received, webhook, untouched, key, agent] = await Promise.all([
      tenant.api.post(`/v0/inboxes/${inboxId}/messages/send`, {
        to: [inboxId],
        attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }],
      }),
      newWebhook(),
      newWebhook(),
      tenant.api.post(`/v0/inboxes/${inboxId}/api-keys`, {}),
      anonymous.post('/v0/agent/sign-up', { username: newUsername('agent') }),
    ])
    const newDomain = async () => (await tenant.client.domains.create({ domain: newDomainName() })).domainId
    const first = await mailTo(system, inboxId)
    const second = await mailTo(system, inboxId)
    const newDraft = () =>
      tenant.client.inboxes.drafts.create(inboxId, {
        to: [peer.address()],
        attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }],
      })
    const [draft, spares] = [await newDraft(), await Promise.all(Array.from({ length: 12 }, newDraft))]
    const sent = await tenant.client.inboxes.messages.get(inboxId, String(received.body['message_id']))
    known.keep('address', inboxId, peer.address())
    known.keep('domain', endpoints.domain)
    known.keep('pod_id', tenant.id)
    known.keep('inbox_id', inboxId)
    known.keep('message_id', first.messageId, sent.messageId)
    known.spare('message_id', second.messageId)
    const domains = [await newDomain(), await newDomain()]
    known.keep('domain_id', ...domains)
    known.keep('draft_id', draft.draftId)
    known.keep('drafts.attachment_id', draft.attachments?.[0]?.attachmentId ?? '')
    for (const { draftId } of spares) known.spare('draft_id', draftId)
    known.keep('thread_id', first.threadId, sent.threadId)
    known.keep('attachment_id', ...(sent.attachments ?? []).map(({ attachmentId }) => attachmentId))
    known.keep('webhook_id', String(webhook.body['webhook_id']))
    await keepRetriable(known, String(untouched.body['webhook_id']))
    known.keep('api_key_id', String(key.body['api_key_id']))
    known.keep('publicKeys.api_key_id', (await registerKey(endpoints.gatewayUrl, tenant.key, {})).keyId)
    const entries = await newEntries(tenant.client, tenant.id, inboxId)
    for (const [kind, name] of Object.entries(entries)) known.keep(kind, name)
    known.spare('agent_key', String(agent.body['api_key']))
    await keepApp(known)
    await keepCalendar(known)
  }

  /** Events of every kind, events and feeds that may be deleted, and the feed of a calendar that no other request reaches. */
  async function keepCalendar(known: KnownThings): Promise<void> {
    const { tenant, peer } = system
    const series = await newSeries(tenant.api, inboxId)
    known.keep('event_id', series, await newEvent(tenant.api, inboxId))
    known.keep('calendarEvents.listInstances.event_id', series)
    known.keep('calendarEvents.respond.event_id', await invite(peer, tenant.api, inboxId))
    for (let made = 0; made < SPARE_EVENTS; made++) known.spare('event_id', await newEvent(tenant.api, inboxId))
    const newCalendar = async () => (await tenant.client.inboxes.create({})).inboxId
    for (let made = 0; made < SPARE_FEEDS; made++) {
      const owner = await newCalendar()
      await newFeed(tenant.api, owner)
      known.spare('calendars.deleteFeed.inbox_id', owner)
    }
    known.keep('calendarFeeds.token', await newFeed(tenant.api, await newCalendar()))
  }

  /** An app, an account, sign-ins that wait, and keys that begin some, because one may begin only a few at a time. */
  async function keepApp(known: KnownThings): Promise<void> {
    const { endpoints, tenant } = system
    const { app_id, account_id, auth_token } = await newSignedInApp(endpoints, inboxId)
    known.keep('app_id', app_id)
    known.keep('account_id', account_id)
    known.keep('auth_token', auth_token, await newWaitingSignIn(endpoints, app_id))
    for (let made = 0; made < CONNECT_KEYS; made++) {
      const { body } = await tenant.api.post('/v0/api-keys', { permissions: { app_connect: true } })
      known.keep('connect_key', String(body['api_key']))
    }
  }

  /** A delivery of a webhook that no other request names: once an update disables its webhook, none can be retried. */
  async function keepRetriable(known: KnownThings, webhookId: string): Promise<void> {
    const delivery = await testDelivery(system.tenant.api, webhookId)
    known.keep('webhooks.retryDelivery.webhook_id', webhookId)
    known.keep('webhooks.retryDelivery.delivery_id', ...Object.values(delivery))
  }
})

function beginsSignIn(operationId: string): boolean {
  return ['apps.connect', 'providers.connect', 'apps.authorize'].includes(operationId)
}

function usesAgentKey(operationId: string): boolean {
  return operationId === 'agent.verify' || operationId === 'agent.human'
}
