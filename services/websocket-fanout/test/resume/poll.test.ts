import { randomUUID } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import {
  callerHeaders,
  deliveredEvent,
  GATEWAY_KEYS,
  GatewayProcess,
  inboxDeletedEvent,
  receivedEvent,
  underLoad,
  waitFor,
} from '@restante/testkit'
import { deleteEntriesBefore } from '../../src/log/sweeper.ts'
import { callerWith, REVOCATION_MS, startFanout, type Tenant, type TestFanout } from '../fanout.ts'
import { type Answer, idsOf, poll as pollOf, waiting } from '../polls/polling.ts'

/** Clearly less than the wait of a poll. */
const AT_ONCE_MS = (LIMITS.stream.pollWait * 1_000 * 2) / 3

let fanout: TestFanout
let tenant: Tenant
beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
})
afterAll(() => fanout.stop())

const poll = (query: Record<string, string>, secret = tenant.key, url = fanout.gateway.url): Promise<Answer> =>
  pollOf(fanout, { secret, url }, query)
const cursorNow = async (secret = tenant.key) => (await poll({}, secret)).body.cursor
const received = (count: number) => Array.from({ length: count }, () => receivedEvent(tenant.inbox))

describe('a poll', () => {
  it('without a cursor is answered at once with one, and no events', async () => {
    await fanout.log(...received(1))
    const { status, body, ms } = await poll({})
    expect([status, body]).toEqual([200, { events: [], cursor: expect.stringMatching(/^[\w-]{20,200}$/) }])
    expect(ms).toBeLessThan(AT_ONCE_MS)
  })

  it('is answered with the documents that came after its cursor, oldest first, until its limit', async () => {
    const cursor = await cursorNow()
    const events = received(5)
    await fanout.log(...events)
    const first = await poll({ cursor, limit: '3' })
    expect(first.body).toMatchObject({ has_more: true })
    expect(first.body.events).toEqual(events.slice(0, 3).map(({ payload }) => payload))
    const second = await poll({ cursor: first.body.cursor, limit: '3' })
    expect(second.body.events).toEqual(events.slice(3).map(({ payload }) => payload))
    expect(second.body).not.toHaveProperty('has_more')
    // A client that lost an answer asks again, and gets the same events.
    expect(idsOf((await poll({ cursor, limit: '3' })).body.events)).toEqual(events.slice(0, 3).map(({ id }) => id))
  })

  it('waits for an event, and returns as soon as one comes', async () => {
    const cursor = await cursorNow()
    const answer = poll({ cursor })
    await waiting(1)
    const [event] = received(1)
    if (event) await fanout.publish(event)
    expect(idsOf((await answer).body.events)).toEqual([event?.id])
    expect((await answer).ms).toBeLessThan(AT_ONCE_MS)
  })

  it('returns without events when its wait is over, with a cursor that misses nothing', async () => {
    const first = await poll({ cursor: await cursorNow(), wait: '1' })
    expect([first.status, first.body.events]).toEqual([200, []])
    expect(first.ms).toBeGreaterThanOrEqual(900)
    expect((await poll({ cursor: first.body.cursor, wait: '0' })).body.events).toEqual([])
    const [event] = received(1)
    if (event) await fanout.log(event)
    expect(idsOf((await poll({ cursor: first.body.cursor })).body.events)).toEqual([event?.id])
  })

  it('is bounded in bytes as well as in events', async () => {
    const cursor = await cursorNow()
    const events = Array.from({ length: 12 }, () => receivedEvent(tenant.inbox, { text: 'x'.repeat(800_000) }))
    for (const event of events) await fanout.log(event)
    const got: unknown[] = []
    let next = cursor
    for (let more = true; more; ) {
      const { body } = await poll({ cursor: next, wait: '0' })
      expect(body.events.length).toBeLessThanOrEqual(7)
      got.push(...idsOf(body.events))
      next = body.cursor
      more = body['has_more'] === true
    }
    expect(got).toEqual(events.map(({ id }) => id))
  })

  it('continues from the cursor of a stream, and a stream from that of a poll', async () => {
    const stream = await fanout.connect(tenant.key)
    await stream.ask({ type: 'subscribe', cursors: true })
    const events = received(3)
    await fanout.publish(...events)
    await waitFor(() => stream.events.length === 3, { what: 'the events on the stream' })
    const { body } = await poll({ cursor: String(stream.events[0]?.['cursor']), limit: '1' })
    expect(idsOf(body.events)).toEqual([events[1]?.id])
    const other = await fanout.connect(tenant.key)
    other.send({ type: 'subscribe', resume_from: body.cursor })
    await waitFor(() => other.frames.some(({ type }) => type === 'resumed'), { what: 'the end of what was missed' })
    expect(idsOf(other.events)).toEqual([events[2]?.id])
    await Promise.all([stream.close(), other.close()])
  })
})

describe('the scope of a poll', () => {
  it('is that of the key: its tier, its permissions, and the types that it names', async () => {
    const pod = await fanout.gateway.addPod(tenant)
    const inPod = await fanout.gateway.addInbox(tenant, pod)
    const keys = {
      pod: await fanout.key(tenant, { prefix: `/pods/${pod}` }),
      inbox: await fanout.key(tenant, { prefix: `/inboxes/${tenant.inbox.address}` }),
      spam: await fanout.key(tenant, { permissions: ['message_read', 'label_spam_read'] }),
      blind: await fanout.key(tenant, { permissions: ['inbox_read'] }),
    }
    const cursors = Object.fromEntries(
      await Promise.all(
        Object.entries(keys).map(async ([name, { secret }]) => [name, await cursorNow(secret)] as const),
      ),
    )
    const spam = receivedEvent(tenant.inbox, { labels: ['spam'] })
    const [plain, delivered, other] = [receivedEvent(tenant.inbox), deliveredEvent(tenant.inbox), receivedEvent(inPod)]
    await fanout.log(spam, plain, delivered, other)
    const got = async (name: keyof typeof keys, more: Record<string, string> = {}) =>
      idsOf((await poll({ cursor: cursors[name] ?? '', wait: '0', ...more }, keys[name].secret)).body.events).sort()
    const ids = (...events: { id: string }[]) => events.map(({ id }) => id).sort()
    expect(await got('pod')).toEqual(ids(other))
    expect(await got('inbox')).toEqual(ids(plain, delivered))
    expect(await got('spam')).toEqual(ids(plain, delivered, other))
    expect(await got('spam', { event_types: 'message.received.spam,message.delivered' })).toEqual(ids(spam, delivered))
    expect(await got('blind')).toEqual([])
  })
})

describe('a poll is refused', () => {
  it('403 for a type without its permission, as on a stream', async () => {
    const key = await fanout.key(tenant, { permissions: ['message_read'] })
    const { status, body } = await poll({ event_types: 'message.received.spam' }, key.secret)
    expect([status, body]).toEqual([
      403,
      expect.objectContaining({ code: 'missing_permission', message: 'label_spam_read is forbidden' }),
    ])
  })

  it('400 for a cursor that was altered or is of another scope, for an unknown type and a wrong number', async () => {
    const stranger = await fanout.tenant()
    const own = await cursorNow()
    const pod = await fanout.key(tenant, { prefix: `/pods/${tenant.id}` })
    for (const cursor of [`A${own.slice(1, -1)}A`, 'x', await cursorNow(stranger.key), await cursorNow(pod.secret)]) {
      expect((await poll({ cursor })).body).toMatchObject({ code: 'validation_error', errors: [{ path: ['cursor'] }] })
    }
    for (const [name, value] of [
      ['wait', '-1'],
      ['limit', '0'],
      ['event_types', 'message.moved'],
      ['cursor', 'x'.repeat(201)],
    ] as const) {
      const { status, body } = await poll({ [name]: value })
      expect([status, JSON.stringify(body['errors'])]).toEqual([400, expect.stringContaining(`"path":["${name}"`)])
    }
  })

  it('400 for a cursor that is older than the log, with the way to reconcile over REST', async () => {
    const cursor = await cursorNow()
    await fanout.log(...received(1))
    await deleteEntriesBefore(fanout.db, new Date(Date.now() + 60_000), 1_000_000)
    const { status, body } = await poll({ cursor })
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        code: 'validation_error',
        message: expect.stringContaining('older than the log'),
        fix: expect.stringContaining('/messages?after='),
      }),
    ])
  })

  it('429 with Retry-After beyond the streams of the organization, and counts for as long as it waits', async () => {
    const other = await fanout.tenant()
    const cursor = await cursorNow(other.key)
    const until = Date.now() + 60_000
    const held = Array.from({ length: LIMITS.stream.connectionsPerOrganization - 1 }, () => [until, randomUUID()])
    const name = `${fanout.redis.prefix}:websocket-fanout:streams:${other.id}`
    await fanout.redis.client.zadd(name, ...held.flat())
    const first = poll({ cursor }, other.key)
    await waiting(1)
    const second = await poll({ cursor: await cursorNow(other.key) }, other.key)
    expect([second.status, second.body['code'], second.headers.get('retry-after')]).toEqual([
      429,
      'rate_limit_exceeded',
      '5',
    ])
    await fanout.publish(receivedEvent(other.inbox))
    expect((await first).status).toBe(200)
    expect((await poll({ cursor, wait: '0' }, other.key)).status).toBe(200)
  })

  it('409 to the earlier of two that wait with one cursor; clients that have read equally far do not meet', async () => {
    const [cursor, own] = [await cursorNow(), await cursorNow()]
    expect(own).not.toBe(cursor)
    const earlier = poll({ cursor })
    await waiting(1)
    const [later, apart] = [poll({ cursor }), poll({ cursor: own })]
    expect([(await earlier).status, (await earlier).body['code']]).toEqual([409, 'conflict'])
    await waiting(2)
    const [event] = received(1)
    if (event) await fanout.publish(event)
    for (const answer of [later, apart]) expect(idsOf((await answer).body.events)).toEqual([event?.id])
  })
})

describe('the end of a key', () => {
  it('that is revoked ends its waiting polls within a second, with 401', async () => {
    const key = await fanout.key(tenant)
    const answer = poll({ cursor: await cursorNow(key.secret) }, key.secret)
    await waiting(1)
    await fanout.gateway.request(tenant.key, 'DELETE', `/v0/api-keys/${key.id}`)
    const begun = performance.now()
    expect([(await answer).status, (await answer).body['code']]).toEqual([401, 'unknown_api_key'])
    expect(performance.now() - begun).toBeLessThan(underLoad(REVOCATION_MS))
  })

  it('401 api_key_expired to a poll that waits beyond its expiry', async () => {
    const key = await fanout.key(tenant, { expires_at: new Date(Date.now() + 2_500).toISOString() })
    const answer = await poll({ cursor: await cursorNow(key.secret) }, key.secret)
    expect([answer.status, answer.body['code']]).toEqual([401, 'api_key_expired'])
    expect(answer.ms).toBeLessThan(AT_ONCE_MS)
  })

  it('with its inbox ends its polls', async () => {
    const inbox = await fanout.gateway.addInbox(tenant)
    const key = await fanout.key(tenant, { prefix: `/inboxes/${inbox.address}` })
    const caller = {
      ...callerWith(tenant, key),
      credential: { ...callerWith(tenant, key).credential, tier: 'inbox' as const },
    }
    const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.poll', {
      ...caller,
      inbox: { uid: inbox.inboxUid, address: inbox.address, pod_id: inbox.podId, paused: false },
    })
    const cursor = await cursorNow(key.secret)
    const answer = fetch(`http://127.0.0.1:${fanout.port}/stream/poll?cursor=${cursor}`, { headers })
    await waiting(1)
    await fanout.tell(inboxDeletedEvent(inbox))
    expect((await answer).status).toBe(401)
  })

  it('that loses a permission takes effect on the answer of a poll that has waited', async () => {
    const key = await fanout.key(tenant, { permissions: ['message_read', 'inbox_read'] })
    const answer = poll({ cursor: await cursorNow(key.secret), wait: '3', event_types: 'message.received' }, key.secret)
    await waiting(1)
    await fanout.gateway.request(tenant.key, 'PATCH', `/v0/api-keys/${key.id}`, {
      permissions: { message_read: false },
    })
    expect([(await answer).status, (await answer).body['message']]).toEqual([403, 'message_read is forbidden'])
  })
})

describe('a shutdown', () => {
  it('answers waiting polls at once, with a cursor', async () => {
    const { service, port } = await fanout.another()
    const key = await fanout.key(tenant)
    const headers = callerHeaders('websocket-fanout', GATEWAY_KEYS.caller, 'stream.poll', callerWith(tenant, key))
    const cursor = await cursorNow(key.secret)
    const answer = fetch(`http://127.0.0.1:${port}/stream/poll?cursor=${cursor}`, { headers })
    await waiting(1)
    const begun = performance.now()
    await service.stop()
    expect(await (await answer).json()).toEqual({ events: [], cursor: expect.any(String) })
    expect(performance.now() - begun).toBeLessThan(AT_ONCE_MS)
  })

  it('of an edge has its waiting polls answered at once', async () => {
    const edge = await GatewayProcess.start({ ...fanout, databaseUrl: fanout.gateway.databaseUrl })
    const answer = poll({ cursor: await cursorNow() }, tenant.key, edge.url)
    await waiting(1)
    const begun = performance.now()
    const stopped = edge.stop()
    expect((await answer).body).toEqual({ events: [], cursor: expect.any(String) })
    expect(performance.now() - begun).toBeLessThan(AT_ONCE_MS)
    await stopped
  })
})
