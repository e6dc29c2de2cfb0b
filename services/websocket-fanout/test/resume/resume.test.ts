import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  deliveredEvent,
  type Frame,
  type InboxScope,
  receivedEvent,
  type StreamClient,
  waitFor,
} from '@restante/testkit'
import { WebSocket } from 'ws'
import { deleteEntriesBefore } from '../../src/log/sweeper.ts'
import { startFanout, type Tenant, type TestFanout } from '../fanout.ts'

let fanout: TestFanout
let tenant: Tenant
let secondPod: string
let inSecondPod: InboxScope
const open: StreamClient[] = []

beforeAll(async () => {
  fanout = await startFanout()
  tenant = await fanout.tenant()
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

/** The cursor of the present end of the log, for a key. */
async function cursorNow(secret = tenant.key): Promise<string> {
  return String((await (await connect(secret)).ask({ type: 'subscribe', cursors: true }))['cursor'])
}

const resumed = (stream: StreamClient, count = 1) =>
  waitFor(() => stream.frames.filter(({ type }) => type === 'resumed').length === count, {
    what: 'the end of what was missed',
  })
const idsOf = (frames: readonly Frame[]) => frames.map((frame) => frame['event_id'])
const received = (count: number, inbox = tenant.inbox) => Array.from({ length: count }, () => receivedEvent(inbox))

describe('a stream that asks for cursors', () => {
  it('gets each event with one more member, and others get the same bytes as before', async () => {
    const [plain, marked] = await Promise.all(
      ['{"type":"subscribe"}', '{"type":"subscribe","cursors":true}'].map(async (subscribe) => {
        const texts: string[] = []
        const url = `${fanout.gateway.url.replace('http', 'ws')}/v0`
        const socket = new WebSocket(url, { headers: { authorization: `Bearer ${tenant.key}` } })
        socket.on('message', (data) => texts.push(data.toString()))
        await once(socket, 'open')
        socket.send(subscribe)
        await waitFor(() => texts.length === 1, { what: 'the answer' })
        return { socket, texts }
      }),
    )
    const event = receivedEvent(tenant.inbox, { text: 'Grüße } ✓' })
    await fanout.publish(event)
    await waitFor(() => plain?.texts.length === 2 && marked?.texts.length === 2, { what: 'the event on both' })
    expect(plain?.texts[1]).toBe(JSON.stringify(event.payload))
    const { cursor } = JSON.parse(marked?.texts[1] ?? '')
    expect(cursor).toMatch(/^[\w-]{20,200}$/)
    expect(marked?.texts[1]).toBe(JSON.stringify({ ...event.payload, cursor }))
    expect(JSON.parse(plain?.texts[0] ?? '')).toEqual({ type: 'subscribed', organization_id: tenant.id })
    for (const { socket } of [plain, marked].filter((end) => end !== undefined)) socket.terminate()
  })

  it('can resume from its subscription when no event had come', async () => {
    const cursor = await cursorNow()
    const missed = received(2)
    await fanout.log(...missed)
    const stream = await connect()
    expect(await stream.ask({ type: 'subscribe', resume_from: cursor })).toMatchObject({ type: 'subscribed', cursor })
    await resumed(stream)
    expect(idsOf(stream.events)).toEqual(missed.map(({ id }) => id))
  })
})

describe('a stream that resumes', () => {
  it('gets what it missed in order, then `resumed`, then what is live, each event once', async () => {
    const first = await connect()
    await first.ask({ type: 'subscribe', cursors: true })
    const seen = received(3)
    await fanout.publish(...seen)
    await waitFor(() => first.events.length === 3, { what: 'three events' })
    await first.close()
    const missed = received(1_200)
    await fanout.log(...missed)
    const second = await connect()
    second.send({ type: 'subscribe', resume_from: first.events[1]?.['cursor'] })
    await resumed(second)
    const [live] = received(1)
    if (live) await fanout.publish(live)
    await second.next((event) => event['event_id'] === live?.id, { what: 'the live event' })
    expect(second.frames.map(({ type }) => type)).toEqual([
      'subscribed',
      ...Array.from({ length: 1_201 }, () => 'event'),
      'resumed',
      'event',
    ])
    expect(idsOf(second.events)).toEqual([seen[2], ...missed, live].map((event) => event?.id))
  })

  it('misses nothing and repeats nothing while events arrive faster than it can look', async () => {
    const cursor = await cursorNow()
    const all: string[] = []
    let isOver = false
    const publishing = (async () => {
      while (!isOver) {
        const events = received(20)
        all.push(...events.map(({ id }) => id))
        await fanout.publish(...events)
      }
    })()
    await waitFor(() => all.length > 200, { what: 'events under way' })
    const streams = await Promise.all(Array.from({ length: 8 }, () => connect()))
    for (const stream of streams) stream.send({ type: 'subscribe', resume_from: cursor })
    for (const stream of streams) await resumed(stream)
    isOver = true
    await publishing
    for (const stream of streams) {
      await waitFor(() => stream.events.length >= all.length, { what: 'all events' })
      expect(idsOf(stream.events)).toEqual(all)
    }
  })

  it('gets one copy of an event that several of its subscriptions cover, in whatever order they were made', async () => {
    const cursor = await cursorNow()
    const before = [...received(5), deliveredEvent(inSecondPod)]
    await fanout.log(...before)
    const stream = await connect()
    await stream.ask({ type: 'subscribe', inbox_ids: [tenant.inbox.address] })
    const live = received(2)
    await fanout.publish(...live)
    await waitFor(() => stream.events.length === 2, { what: 'the live events' })
    stream.send({ type: 'subscribe', resume_from: cursor, pod_ids: [tenant.id] })
    stream.send({ type: 'subscribe', resume_from: cursor, pod_ids: [secondPod] })
    stream.send({ type: 'subscribe', resume_from: cursor })
    await resumed(stream, 3)
    const ids = idsOf(stream.events)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...ids].sort()).toEqual([...before, ...live].map(({ id }) => id).sort())
    await stream.ask({ type: 'unsubscribe' })
    stream.send({ type: 'subscribe', resume_from: cursor, inbox_ids: [tenant.inbox.address] })
    await resumed(stream, 4)
    expect(idsOf(stream.events)).toEqual(ids)
  })

  it('gets what the types, the scopes and the permissions of its subscription cover', async () => {
    const key = await fanout.key(tenant, { permissions: ['message_read', 'label_spam_read'] })
    const pod = await fanout.key(tenant, { prefix: `/pods/${secondPod}` })
    const inbox = await fanout.key(tenant, { prefix: `/inboxes/${tenant.inbox.address}` })
    const blind = await fanout.key(tenant, { permissions: ['inbox_read'] })
    const cursors = await Promise.all([key, pod, inbox, blind].map(({ secret }) => cursorNow(secret)))
    const spam = receivedEvent(tenant.inbox, { labels: ['spam'] })
    const both = receivedEvent(tenant.inbox, { labels: ['spam', 'blocked'] })
    const [plain, delivered, other] = [
      receivedEvent(tenant.inbox),
      deliveredEvent(tenant.inbox),
      receivedEvent(inSecondPod),
    ]
    await fanout.log(spam, both, plain, delivered, other)
    const cases = [
      [key, { event_types: ['message.received', 'message.received.spam'] }, [spam, plain, other]],
      [key, { inbox_ids: [inSecondPod.address] }, [other]],
      [pod, {}, [other]],
      [inbox, {}, [plain, delivered]],
      [blind, {}, []],
    ] as const
    for (const [{ secret }, frame, expected] of cases) {
      const stream = await connect(secret)
      const at = [key, pod, inbox, blind].findIndex((one) => one.secret === secret)
      stream.send({ type: 'subscribe', ...frame, resume_from: cursors[at] })
      await resumed(stream)
      // Different inboxes are different partitions, which have no mutual order.
      expect(idsOf(stream.events).sort()).toEqual(expected.map(({ id }) => id).sort())
    }
  })

  it('is answered in the order of its frames', async () => {
    const cursor = await cursorNow()
    await fanout.log(...received(3))
    const stream = await connect()
    stream.send({ type: 'subscribe', resume_from: cursor })
    stream.send({ type: 'unsubscribe' })
    await waitFor(() => stream.frames.some(({ type }) => type === 'unsubscribed'), { what: 'the last answer' })
    const types = stream.frames.map(({ type }) => type)
    expect(types).toEqual(['subscribed', 'event', 'event', 'event', 'resumed', 'unsubscribed'])
  })
})

describe('a cursor', () => {
  async function refused(cursor: unknown, secret = tenant.key): Promise<Frame> {
    const stream = await connect(secret)
    const answer = await stream.ask({ type: 'subscribe', resume_from: cursor })
    const event = receivedEvent(tenant.inbox)
    await fanout.log(event)
    expect(await stream.ask({ type: 'unsubscribe' })).toMatchObject({ type: 'unsubscribed' })
    expect(stream.events).toEqual([])
    return answer
  }

  it('that was altered, or is of another scope or organization, is refused, and nothing is subscribed', async () => {
    const stranger = await fanout.tenant()
    const pod = await fanout.key(tenant, { prefix: `/pods/${tenant.id}` })
    const own = await cursorNow()
    const altered = `${own.slice(0, 20)}${own[20] === 'A' ? 'B' : 'A'}${own.slice(21)}`
    for (const cursor of [altered, 'x', `${own}=`, await cursorNow(stranger.key), await cursorNow(pod.secret)]) {
      expect(await refused(cursor)).toMatchObject({
        type: 'error',
        code: 'validation_error',
        message: 'This cursor is not valid for this key',
        errors: [{ path: ['resume_from'] }],
      })
    }
    expect(await refused(own, pod.secret)).toMatchObject({ code: 'validation_error' })
    for (const cursor of ['', 7, 'x'.repeat(201)]) {
      expect(await refused(cursor)).toMatchObject({ code: 'validation_error', errors: [{ path: ['resume_from'] }] })
    }
  })

  it('is valid for another key of the same scope', async () => {
    const cursor = await cursorNow((await fanout.key(tenant)).secret)
    const stream = await connect((await fanout.key(tenant)).secret)
    expect(await stream.ask({ type: 'subscribe', resume_from: cursor })).toMatchObject({ type: 'subscribed' })
  })

  it('that is older than the log is refused, with the way to reconcile over REST', async () => {
    const old = await cursorNow()
    const stream = await connect()
    await stream.ask({ type: 'subscribe', cursors: true })
    await fanout.publish(...received(2))
    await waitFor(() => stream.events.length === 2, { what: 'two events' })
    await deleteEntriesBefore(fanout.db, new Date(Date.now() + 60_000), 1_000_000)
    expect(await refused(old)).toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('older than the log'),
      fix: expect.stringContaining('/messages?after='),
      errors: [{ path: ['resume_from'] }],
    })
    const last = await connect()
    const after = { type: 'subscribe', resume_from: stream.events[1]?.['cursor'] }
    expect(await last.ask(after)).toMatchObject({ type: 'subscribed' })
    await resumed(last)
  })
  it('does not make a frame valid that names an unknown pod', async () => {
    const stream = await connect()
    const frame = { type: 'subscribe', resume_from: await cursorNow(), pod_ids: [randomUUID()] }
    expect(await stream.ask(frame)).toMatchObject({ type: 'error', code: 'not_found' })
  })
})
