import { randomUUID } from 'node:crypto'
import type { InboxScope, StreamClient } from '@restante/testkit'
import { startFanout, type Tenant, type TestFanout } from '../fanout.ts'

let fanout: TestFanout
let tenant: Tenant
let secondPod: string
let inSecondPod: InboxScope
let stranger: Tenant
const open: StreamClient[] = []

beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
  stranger = await fanout.tenant()
  secondPod = await fanout.gateway.addPod(tenant)
  inSecondPod = await fanout.gateway.addInbox(tenant, secondPod)
})
afterAll(() => fanout.stop())
afterEach(async () => {
  for (const stream of open.splice(0)) await stream.close()
})

async function connect(secret = tenant.key): Promise<StreamClient> {
  const stream = await fanout.connect(secret)
  open.push(stream)
  return stream
}

async function withKey(options: Parameters<TestFanout['key']>[1]): Promise<StreamClient> {
  return connect((await fanout.key(tenant, options)).secret)
}

describe('the answer `subscribed`', () => {
  it('echoes the given lists unchanged, with the organization', async () => {
    const stream = await connect()
    const lists = {
      event_types: ['message.received', 'message.received'],
      inbox_ids: [tenant.inbox.address.toUpperCase()],
      pod_ids: [tenant.id],
    }
    const organization = { organization_id: tenant.id }
    expect(await stream.ask({ type: 'subscribe', ...lists })).toEqual({ type: 'subscribed', ...organization, ...lists })
    expect(await stream.ask({ type: 'subscribe', inbox_ids: null, event_types: [] })).toEqual({
      type: 'subscribed',
      ...organization,
      event_types: [],
    })
    expect(await stream.ask({ type: 'unsubscribe', pod_ids: lists.pod_ids })).toEqual({
      type: 'unsubscribed',
      ...organization,
      pod_ids: lists.pod_ids,
    })
  })

  it('comes in the order of the frames, one for each', async () => {
    const stream = await connect()
    const asked = Array.from({ length: 20 }, (_, index) =>
      index % 3 === 2 ? [`nobody-${index}@restante.test`] : index % 3 === 1 ? [tenant.inbox.address] : undefined,
    )
    for (const inbox_ids of asked) stream.send({ type: 'subscribe', ...(inbox_ids && { inbox_ids }) })
    await stream.ask({ type: 'unsubscribe' })
    while (!stream.frames.some((frame) => frame['type'] === 'unsubscribed')) await new Promise(setImmediate)
    expect(stream.frames.map(({ type, inbox_ids }) => [type, inbox_ids])).toEqual([
      ...asked.map((ids, index) => (index % 3 === 2 ? ['error', undefined] : ['subscribed', ids])),
      ['unsubscribed', undefined],
    ])
  })

  it('is given to a key of each tier for scopes within its own', async () => {
    const organization = await connect()
    expect(
      await organization.ask({ type: 'subscribe', inbox_ids: [inSecondPod.address], pod_ids: [secondPod] }),
    ).toMatchObject({ type: 'subscribed' })
    const pod = await withKey({ prefix: `/pods/${tenant.id}` })
    expect(await pod.ask({ type: 'subscribe', inbox_ids: [tenant.inbox.address], pod_ids: [tenant.id] })).toMatchObject(
      { type: 'subscribed' },
    )
    const inbox = await withKey({ prefix: `/inboxes/${tenant.inbox.address}` })
    expect(await inbox.ask({ type: 'subscribe', inbox_ids: [tenant.inbox.address] })).toMatchObject({
      type: 'subscribed',
    })
  })
})

describe('the answer `error`', () => {
  /** After a refusal the stream is as usable as before. */
  async function refused(stream: StreamClient, frame: unknown) {
    const answer = await stream.ask(frame)
    expect(await stream.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
    return answer
  }

  it.each([
    ['an unknown event type', { event_types: ['message.received', 'message.moved'] }, ['event_types', 1]],
    ['a list that is a string', { inbox_ids: 'a@x.example' }, ['inbox_ids']],
    ['an id that is a number', { pod_ids: [7] }, ['pod_ids', 0]],
    ['eleven inboxes', { inbox_ids: Array.from({ length: 11 }, (_, index) => `${index}@x.example`) }, ['inbox_ids']],
    ['eleven pods', { pod_ids: Array.from({ length: 11 }, () => randomUUID()) }, ['pod_ids']],
  ])('validation_error to %s, with its path', async (_what, members, path) => {
    expect(await refused(await connect(), { type: 'subscribe', ...members })).toMatchObject({
      type: 'error',
      name: 'ValidationError',
      code: 'validation_error',
      message: expect.any(String),
      errors: [{ path, message: expect.any(String) }],
      docs: 'http://docs.test/errors#validation_error',
    })
  })

  it("not_found for scopes that do not exist or are outside the key's scope, and nothing of the frame is applied", async () => {
    const pod = await withKey({ prefix: `/pods/${tenant.id}` })
    const inbox = await withKey({ prefix: `/inboxes/${tenant.inbox.address}` })
    const all = await connect()
    const cases: [StreamClient, object, string][] = [
      [all, { inbox_ids: ['nobody@restante.test'] }, 'Inbox not found'],
      [all, { inbox_ids: [stranger.inbox.address] }, 'Inbox not found'],
      [all, { pod_ids: [stranger.id] }, 'Pod not found'],
      [all, { pod_ids: ['no uuid'] }, 'Pod not found'],
      [all, { inbox_ids: [tenant.inbox.address], pod_ids: [randomUUID()] }, 'Pod not found'],
      [pod, { inbox_ids: [inSecondPod.address] }, 'Inbox not found'],
      [pod, { pod_ids: [secondPod] }, 'Pod not found'],
      [inbox, { inbox_ids: [inSecondPod.address] }, 'Inbox not found'],
    ]
    for (const [stream, members, message] of cases) {
      const answer = await refused(stream, { type: 'subscribe', ...members })
      expect(answer).toMatchObject({ type: 'error', name: 'NotFoundError', code: 'not_found', message })
    }
  })

  it('forbidden for pods named by a key of an inbox', async () => {
    const stream = await withKey({ prefix: `/inboxes/${tenant.inbox.address}` })
    expect(await refused(stream, { type: 'subscribe', pod_ids: [tenant.id] })).toMatchObject({
      name: 'ForbiddenError',
      code: 'forbidden',
      message: 'Forbidden',
    })
  })

  it.each([
    ['message_read', [], ['message.sent']],
    ['message_read', ['label_spam_read'], ['message.received.spam']],
    ['label_spam_read', ['message_read'], ['message.received.blocked', 'message.received.spam']],
    ['label_blocked_read', ['message_read'], ['message.received.blocked']],
    ['calendar_event_read', ['message_read'], ['calendar.event.created']],
  ])('missing_permission: %s is forbidden', async (permission, permissions, event_types) => {
    const stream = await withKey({ permissions: [...permissions, 'inbox_read'] })
    expect(await refused(stream, { type: 'subscribe', event_types })).toMatchObject({
      name: 'ForbiddenError',
      code: 'missing_permission',
      message: `${permission} is forbidden`,
      fix: expect.stringContaining(permission),
    })
  })

  it('limit_exceeded beyond 100 subscriptions', async () => {
    const stream = await connect()
    const rows = Array.from({ length: 100 }, (_, index) => `c${index}`)
    const made = await Promise.all(
      rows.map((client_id) => fanout.gateway.request(tenant.key, 'POST', '/v0/inboxes', { client_id })),
    )
    const addresses = made.map((inbox) => String(inbox['inbox_id']))
    for (let from = 0; from < 100; from += 10) {
      expect(await stream.ask({ type: 'subscribe', inbox_ids: addresses.slice(from, from + 10) })).toMatchObject({
        type: 'subscribed',
      })
    }
    expect(await stream.ask({ type: 'subscribe' })).toMatchObject({
      name: 'LimitExceededError',
      code: 'limit_exceeded',
      limit: 100,
    })
    expect(await stream.ask({ type: 'subscribe', inbox_ids: addresses.slice(0, 10) })).toMatchObject({
      type: 'subscribed',
    })
    await stream.ask({ type: 'unsubscribe', inbox_ids: addresses.slice(0, 1) })
    expect(await stream.ask({ type: 'subscribe' })).toMatchObject({ type: 'subscribed' })
  })
})

describe('a frame of an unknown kind', () => {
  it.each(['hello', '[]', 'null', '{}', '{"type":"publish"}', '{"type":7}'])(
    '%s is answered Forbidden',
    async (text) => {
      expect(await (await connect()).ask(text)).toEqual({ message: 'Forbidden' })
    },
  )

  it('is answered Forbidden when it is binary', async () => {
    const stream = await connect()
    expect(await stream.ask(Buffer.from('{"type":"subscribe"}'))).toEqual({ message: 'Forbidden' })
  })
})

describe('unsubscribe', () => {
  it("ignores scopes that were not subscribed, are unknown, or are outside the key's scope", async () => {
    const stream = await connect()
    const inbox_ids = ['nobody@restante.test', stranger.inbox.address, tenant.inbox.address]
    expect(await stream.ask({ type: 'unsubscribe', inbox_ids })).toMatchObject({ type: 'unsubscribed', inbox_ids })
    expect(await stream.ask({ type: 'unsubscribe' })).toEqual({ type: 'unsubscribed', organization_id: tenant.id })
  })
})
