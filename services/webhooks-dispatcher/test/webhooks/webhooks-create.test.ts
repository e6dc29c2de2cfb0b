import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { LIMITS, WEBHOOK_ID, WEBHOOK_SECRET } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { ServiceClient } from '@restante/service/http'
import { callerOf, GATEWAY_KEYS, inboxDeletedEvent, slowRequest, waitFor } from '@restante/testkit'
import { startDispatcher, type TestDispatcher } from '../dispatcher.ts'
import { makeTenant, type Tenant } from '../tenant.ts'

const URL = 'https://receiver.example/hook'
const TYPES = ['message.received']

let dispatcher: TestDispatcher
let tenant: Tenant
const otherPod = randomUUID()
const selectSealed = sql<{ secret: Buffer; headers: Buffer | null }, [id: string]>(
  'select secret, headers from webhooks where id = $1',
)

beforeAll(async () => {
  dispatcher = await startDispatcher({ ALLOW_HTTP_URLS: 'false' })
  tenant = await makeTenant(dispatcher)
})
afterAll(() => dispatcher.stop())

describe('webhooks.create: 200', () => {
  it('returns a webhook with its id, its secret and the requested members', async () => {
    const { status, headers, body } = await dispatcher.create(tenant.organization(), {
      url: URL,
      event_types: ['message.sent', 'message.received', 'message.sent'],
      client_id: 'first~1',
      unknown_member: 1,
    })
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      organization_id: tenant.id,
      webhook_id: expect.stringMatching(WEBHOOK_ID),
      secret: expect.stringMatching(WEBHOOK_SECRET),
      url: URL,
      enabled: true,
      event_types: ['message.sent', 'message.received'],
      client_id: 'first~1',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body['created_at'],
    })
  })

  it('stores for a pod the pod itself, or only the named inboxes', async () => {
    const whole = await dispatcher.webhook(tenant.pod(), { url: URL, event_types: TYPES })
    expect(whole).toMatchObject({ pod_id: tenant.id, pod_ids: [tenant.id] })
    expect(whole).not.toHaveProperty('inbox_ids')
    const some = await dispatcher.webhook(tenant.pod(), {
      url: URL,
      event_types: TYPES,
      inbox_ids: [tenant.inbox.address],
    })
    expect(some).toMatchObject({ pod_id: tenant.id, inbox_ids: [tenant.inbox.address] })
    expect(some).not.toHaveProperty('pod_ids')
  })

  it('stores for an inbox the inbox and its pod', async () => {
    for (const caller of [tenant.inInbox('inbox'), tenant.inInbox('organization')]) {
      const webhook = await dispatcher.webhook(caller, { url: URL, event_types: TYPES })
      expect(webhook).toMatchObject({
        pod_id: tenant.inbox.pod_id,
        inbox_id: tenant.inbox.address,
        inbox_ids: [tenant.inbox.address],
      })
      expect(webhook).not.toHaveProperty('pod_ids')
    }
  })

  it('accepts inbox ids in any case, and stores each once', async () => {
    const ids = [tenant.inbox.address.toUpperCase(), tenant.inbox.address]
    const webhook = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES, inbox_ids: ids })
    expect(webhook.inbox_ids).toEqual([tenant.inbox.address])
  })

  it('stores the secret and the headers sealed, and shows no header', async () => {
    const headers = { 'X-Token': 'a very secret value' }
    const webhook = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES, headers })
    expect(JSON.stringify(webhook)).not.toContain('secret value')
    const [row] = await dispatcher.db.query(selectSealed, webhook.webhook_id)
    expect(Buffer.from(row?.headers ?? '').toString('latin1')).not.toContain('secret value')
    expect(Buffer.from(row?.secret ?? '').toString('latin1')).not.toContain(webhook.secret.slice(6))
  })

  it('treats null for an optional member as absent', async () => {
    const unset = { client_id: null, inbox_ids: null, pod_ids: null, headers: null }
    const webhook = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES, ...unset })
    for (const name of Object.keys(unset)) expect(webhook).not.toHaveProperty(name)
  })

  it('accepts the same url twice', async () => {
    const first = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES })
    const second = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES })
    expect(second.webhook_id).not.toBe(first.webhook_id)
  })
})

describe('webhooks.create: 200 to a known client_id', () => {
  it('returns the existing webhook unchanged and ignores the rest', async () => {
    const client_id = randomUUID()
    const first = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES, client_id })
    const again = await dispatcher.webhook(tenant.organization(['webhook_create', 'webhook_read']), {
      url: 'https://other.example/',
      event_types: ['message.received.spam'],
      inbox_ids: ['nobody@restante.test'],
      client_id,
    })
    expect(again).toEqual(first)
  })

  it('omits the secret for a key that could not read it, except for the key that created the webhook', async () => {
    const body = { url: URL, event_types: TYPES, client_id: randomUUID() }
    const maker = tenant.organization(['webhook_create'])
    const { secret, ...others } = await dispatcher.webhook(maker, body)
    expect(secret).toMatch(WEBHOOK_SECRET)
    expect(await dispatcher.webhook(tenant.organization(['webhook_create']), body)).toEqual(others)
    expect(await dispatcher.webhook(maker, body)).toEqual({ ...others, secret })
  })

  it('creates one webhook for fifty parallel requests, and all answer with it', async () => {
    const client_id = randomUUID()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => dispatcher.create(tenant.owner, { url: URL, event_types: TYPES, client_id })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(answers.map(({ body }) => body['webhook_id'])).size).toBe(1)
  })

  it('creates a new one after the deletion', async () => {
    const client_id = randomUUID()
    const first = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES, client_id })
    await dispatcher.request('webhooks.delete', tenant.organization(), 'DELETE', `/webhooks/${client_id}`)
    const second = await dispatcher.webhook(tenant.organization(), { url: URL, event_types: TYPES, client_id })
    expect(second.webhook_id).not.toBe(first.webhook_id)
  })

  it.each([
    ['inbox', () => ({ ...tenant.inInbox(), inbox: { ...tenant.inbox, uid: randomUUID() } })],
    ['pod', () => tenant.pod(randomUUID())],
  ])('creates a new one when the %s of the first is deleted, before that event arrives', async (_what, home) => {
    const client_id = randomUUID()
    const body = { url: URL, event_types: TYPES, client_id }
    for (const caller of [tenant.organization(), tenant.pod(), tenant.inInbox()]) {
      const first = await dispatcher.webhook(home(), body)
      const second = await dispatcher.webhook(caller, body)
      expect(second.webhook_id).not.toBe(first.webhook_id)
      expect(await dispatcher.webhook(caller, body)).toEqual(second)
      await dispatcher.clear()
    }
  })

  it('shows a pod the webhooks of its inboxes', async () => {
    const client_id = randomUUID()
    const first = await dispatcher.webhook(tenant.inInbox(), { url: URL, event_types: TYPES, client_id })
    const again = await dispatcher.webhook(tenant.pod(), { url: URL, event_types: TYPES, client_id })
    expect(again).toEqual(first)
  })
})

describe('webhooks.create: 400', () => {
  const good = { url: URL, event_types: TYPES }
  const longHeader = { 'x-long': 'a'.repeat(4096) }
  const manyHeaders = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, '']))
  const elevenIds = Array.from({ length: 11 }, (_, index) => `i${index}@restante.test`)

  it.each([
    ['no url', { event_types: TYPES }, ['url']],
    ['an http url', { ...good, url: 'http://receiver.example/' }, ['url']],
    ['a relative url', { ...good, url: '/hook' }, ['url']],
    ['a url with user info', { ...good, url: 'https://a:b@receiver.example/' }, ['url']],
    ['a url with a fragment', { ...good, url: 'https://receiver.example/#x' }, ['url']],
    ['a url of 2049 characters', { ...good, url: `https://receiver.example/${'a'.repeat(2024)}` }, ['url']],
    ['a url that is no string', { ...good, url: 7 }, ['url']],
    ['no event types', { url: URL }, ['event_types']],
    ['an empty list of event types', { url: URL, event_types: [] }, ['event_types']],
    ['an unknown event type', { url: URL, event_types: ['message.received', 'message.moved'] }, ['event_types', 1]],
    ['null for a required member', { ...good, event_types: null }, ['event_types']],
    ['null in a list', { ...good, inbox_ids: [null] }, ['inbox_ids', 0]],
    ['null for a header', { ...good, headers: { 'x-a': null } }, ['headers', 'x-a']],
    ['a client_id with a space', { ...good, client_id: 'a b' }, ['client_id']],
    ['a client_id of 257 characters', { ...good, client_id: 'a'.repeat(257) }, ['client_id']],
    ['eleven inbox ids', { ...good, inbox_ids: elevenIds }, ['inbox_ids']],
    ['eleven pod ids', { ...good, pod_ids: elevenIds }, ['pod_ids']],
    ['no header in headers', { ...good, headers: {} }, ['headers']],
    ['21 headers', { ...good, headers: manyHeaders }, ['headers']],
    ['more than 4 KB of headers', { ...good, headers: longHeader }, ['headers']],
    ['a header name with a space', { ...good, headers: { 'x y': '1' } }, ['headers', 'x y']],
    ['a header value with a line break', { ...good, headers: { x: 'a\r\nb' } }, ['headers', 'x']],
    ['a header value that HTTP cannot carry', { ...good, headers: { x: 'a✓' } }, ['headers', 'x']],
    ['a header value that is a number', { ...good, headers: { x: 1 } }, ['headers', 'x']],
    ['one header in two cases', { ...good, headers: { 'x-a': '1', 'X-A': '2' } }, ['headers', 'X-A']],
    ...['svix-id', 'Webhook-Signature', 'content-type', 'host', 'connection', 'transfer-encoding', 'user-agent'].map(
      (name): [string, object, string[]] => [
        `the header ${name}`,
        { ...good, headers: { [name]: 'x' } },
        ['headers', name],
      ],
    ),
  ])('to %s', async (_what, body, path) => {
    const { status, body: document } = await dispatcher.create(tenant.organization(), body)
    expect([status, document['code'], document['name']]).toEqual([400, 'validation_error', 'ValidationError'])
    expect(document['errors']).toContainEqual({ path, message: expect.any(String) })
  })

  it('names the unknown event type', async () => {
    const { body } = await dispatcher.create(tenant.organization(), { url: URL, event_types: ['message.moved'] })
    expect(body['message']).toContain('message.moved')
  })

  it('to a filter that the scope fixes', async () => {
    const inInbox = await dispatcher.create(tenant.inInbox(), { ...good, inbox_ids: [tenant.inbox.address] })
    expect([inInbox.status, inInbox.body['errors']]).toEqual([
      400,
      [{ path: ['inbox_ids'], message: expect.any(String) }],
    ])
    for (const caller of [tenant.pod(), tenant.inInbox('organization')]) {
      const { status, body } = await dispatcher.create(caller, { ...good, pod_ids: [tenant.id] })
      expect([status, body['errors']]).toEqual([400, [{ path: ['pod_ids'], message: expect.any(String) }]])
    }
  })
})

describe('webhooks.create: 403', () => {
  it.each([
    ['label_spam_read', ['label_blocked_read'], ['message.received.blocked', 'message.received.spam']],
    ['label_blocked_read', [], ['message.received.unauthenticated', 'message.received.blocked']],
    ['label_unauthenticated_read', [], ['message.received.unauthenticated']],
    ['calendar_event_read', [], ['calendar.event.created']],
  ])('missing_permission: %s is forbidden', async (permission, held, event_types) => {
    const caller = tenant.organization(['webhook_create', ...held])
    const { status, body } = await dispatcher.create(caller, { url: URL, event_types })
    expect(status).toBe(403)
    expect(body).toMatchObject({
      name: 'ForbiddenError',
      code: 'missing_permission',
      message: `${permission} is forbidden`,
    })
  })

  it('does not require message_read', async () => {
    const { status } = await dispatcher.create(tenant.organization(['webhook_create']), {
      url: URL,
      event_types: TYPES,
    })
    expect(status).toBe(200)
  })

  it('forbidden when an inbox key names pods', async () => {
    const { status, body } = await dispatcher.create(tenant.inInbox(), {
      url: URL,
      event_types: TYPES,
      pod_ids: [tenant.id],
    })
    expect([status, body['code'], body['name']]).toEqual([403, 'forbidden', 'ForbiddenError'])
  })

  it('limit_exceeded at the 51st, also when many come at once; the known client_id still answers', async () => {
    const { owner: other } = await makeTenant(dispatcher)
    const answers = await Promise.all(
      Array.from({ length: LIMITS.webhook.perOrganization + 5 }, (_, index) =>
        dispatcher.create(other, { url: URL, event_types: TYPES, client_id: `c${index}` }),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMITS.webhook.perOrganization)
    const refused = answers.find(({ status }) => status !== 200)
    expect(refused?.status).toBe(403)
    expect(refused?.body).toMatchObject({
      code: 'limit_exceeded',
      name: 'LimitExceededError',
      resource: 'webhook',
      limit: 50,
    })
    const client_id = answers.find(({ status }) => status === 200)?.body['client_id']
    expect((await dispatcher.create(other, { url: URL, event_types: TYPES, client_id })).status).toBe(200)
  })
})

describe('webhooks.create: 404', () => {
  it.each([
    ['an unknown inbox', { inbox_ids: ['nobody@restante.test'] }, 'Inbox not found'],
    ['an unknown pod', { pod_ids: [randomUUID()] }, 'Pod not found'],
    ['a malformed pod id', { pod_ids: ['x'] }, 'Pod not found'],
  ])('to %s', async (_what, filter, message) => {
    const { status, body } = await dispatcher.create(tenant.organization(), { url: URL, event_types: TYPES, ...filter })
    expect([status, body['code'], body['message']]).toEqual([404, 'not_found', message])
  })

  it('for an inbox of another pod, and of another organization', async () => {
    for (const caller of [tenant.pod(otherPod), callerOf()]) {
      const { status, body } = await dispatcher.create(caller, {
        url: URL,
        event_types: TYPES,
        inbox_ids: [tenant.inbox.address],
      })
      expect([status, body['message']]).toEqual([404, 'Inbox not found'])
    }
  })
})

describe('webhooks.create: 404 for a scope deleted a moment ago', () => {
  it('although the request was admitted before the deletion', async () => {
    const { uid, address, pod_id } = await tenant.addInbox()
    const scope = { organizationId: tenant.id, podId: pod_id, inboxUid: uid, address }
    await dispatcher.events.publish(topics.tenancy, inboxDeletedEvent(scope))
    const inbox = { uid, address, pod_id, paused: false }
    const late = { ...tenant.inInbox(), inbox }
    const body = { url: URL, event_types: TYPES }
    await waitFor(async () => (await dispatcher.create(late, body)).status === 404, { what: 'the deletion to arrive' })
    const filtered = await dispatcher.create(tenant.organization(), { ...body, inbox_ids: [address] })
    expect([filtered.status, filtered.body['message']]).toEqual([404, 'Inbox not found'])
    expect((await dispatcher.request('webhooks.list', late, 'GET', '/webhooks')).body['count']).toBe(0)
  })
})

describe('webhooks.create: 409', () => {
  it('conflict when the client_id is held outside the scope, and nothing of that webhook is shown', async () => {
    const client_id = randomUUID()
    await dispatcher.webhook(tenant.organization(), { url: 'https://secret.example/', event_types: TYPES, client_id })
    for (const caller of [tenant.pod(), tenant.inInbox(), tenant.pod(otherPod)]) {
      const { status, body } = await dispatcher.create(caller, { url: URL, event_types: TYPES, client_id })
      expect([status, body['code'], body['name']]).toEqual([409, 'conflict', 'ConflictError'])
      expect(JSON.stringify(body)).not.toContain('secret.example')
    }
  })
})

describe('webhooks.create with a slow body', () => {
  it('answers 401 when the key was deleted in the meantime, and creates nothing', async () => {
    const { key, organization } = await makeTenant(dispatcher)
    const { gateway } = dispatcher
    const made = await gateway.request(key, 'POST', '/v0/api-keys', { permissions: { webhook_create: true } })
    const headers = { authorization: `Bearer ${made['api_key']}` }
    const finish = await slowRequest('POST', `${gateway.url}/v0/webhooks`, headers, { url: URL, event_types: TYPES })
    await gateway.request(key, 'DELETE', `/v0/api-keys/${made['api_key_id']}`)
    expect(await finish()).toMatchObject({ status: 401, body: { code: 'unknown_api_key' } })
    const { body } = await dispatcher.request('webhooks.list', organization(), 'GET', '/webhooks')
    expect(body).toMatchObject({ count: 0 })
  })

  it('answers 200 when the key is still valid', async () => {
    const { key } = await makeTenant(dispatcher)
    const headers = { authorization: `Bearer ${key}` }
    const url = `${dispatcher.gateway.url}/v0/webhooks`
    const finish = await slowRequest('POST', url, headers, { url: URL, event_types: TYPES })
    expect(await finish()).toMatchObject({ status: 200, body: { url: URL } })
  })
})

describe('webhooks of an organization that is taken over', () => {
  const end = (organization_id: string, take_overs: number) => {
    const gateway = new ServiceClient({
      from: 'gateway',
      to: 'webhooks-dispatcher',
      url: `http://127.0.0.1:${dispatcher.env['PORT']}`,
      key: GATEWAY_KEYS.peer,
    })
    return gateway
      .call('webhooks-dispatcher.endWebhooks', { organization_id, take_overs })
      .finally(() => gateway.stop())
  }
  const wanted = { url: URL, event_types: TYPES }

  it('those of earlier keys are gone once the gateway has ended them, and later ones stay', async () => {
    const { id, organization } = await makeTenant(dispatcher)
    const heir = { ...organization(), take_overs: 1 }
    const earlier = await dispatcher.webhook(organization(), wanted)
    await end(id, 0)
    expect((await dispatcher.request('webhooks.list', heir, 'GET', '/webhooks')).body).toMatchObject({ count: 1 })
    await end(id, 1)
    const own = await dispatcher.webhook(heir, wanted)
    await Promise.all([end(id, 1), end(id, 0), end(id, 1)])
    const { body } = await dispatcher.request('webhooks.list', heir, 'GET', '/webhooks')
    expect(body).toMatchObject({ count: 1, webhooks: [{ webhook_id: own.webhook_id }] })
    expect(own.webhook_id).not.toBe(earlier.webhook_id)
  })

  it("401 for an earlier key that names the alias of a successor's webhook, whose secret it does not get", async () => {
    const { id, organization } = await makeTenant(dispatcher)
    await end(id, 1)
    const client_id = 'agent-hook'
    await dispatcher.webhook({ ...organization(), take_overs: 1 }, { ...wanted, client_id })
    const { status, body } = await dispatcher.create(organization(), { ...wanted, client_id })
    expect([status, body['code'], body['secret']]).toEqual([401, 'unknown_api_key', undefined])
  })

  it("401 for every request of an earlier key that names a successor's webhook by its alias", async () => {
    const { id, organization } = await makeTenant(dispatcher)
    await end(id, 1)
    const heir = { ...organization(), take_overs: 1 }
    const { webhook_id } = await dispatcher.webhook(heir, { ...wanted, client_id: 'agent-hook' })
    const requests = [
      ['webhooks.list', 'GET', '', undefined],
      ['webhooks.get', 'GET', '/agent-hook', undefined],
      ['webhooks.getHeaders', 'GET', '/agent-hook/headers', undefined],
      ['webhooks.updateHeaders', 'PATCH', '/agent-hook/headers', { headers: { 'x-own': 'value' } }],
      ['webhooks.listDeliveries', 'GET', '/agent-hook/deliveries', undefined],
      ['webhooks.update', 'PATCH', '/agent-hook', { enabled: false }],
      ['webhooks.test', 'POST', '/agent-hook/test', {}],
      ['webhooks.delete', 'DELETE', '/agent-hook', undefined],
    ] as const
    for (const [operation, method, path, body] of requests) {
      const answer = await dispatcher.request(operation, organization(), method, `/webhooks${path}`, body)
      expect([operation, answer.status, answer.body['code']]).toEqual([operation, 401, 'unknown_api_key'])
    }
    const kept = await dispatcher.request('webhooks.get', heir, 'GET', `/webhooks/${webhook_id}`)
    expect([kept.status, kept.body['enabled']]).toEqual([200, true])
    const { body } = await dispatcher.request('webhooks.getHeaders', heir, 'GET', `/webhooks/${webhook_id}/headers`)
    expect(body).toEqual({ header_names: [] })
  })

  it('401 for a request of an earlier key that was admitted before the take-over and arrives after it', async () => {
    const { id, organization } = await makeTenant(dispatcher)
    await end(id, 2)
    for (const caller of [organization(), { ...organization(), take_overs: 1 }]) {
      const { status, body } = await dispatcher.create(caller, wanted)
      expect([status, body['code']]).toEqual([401, 'unknown_api_key'])
    }
    expect((await dispatcher.create({ ...organization(), take_overs: 2 }, wanted)).status).toBe(200)
  })
})
