import { randomUUID } from 'node:crypto'
import { EVENT_TYPES } from '@restante/contracts/access'
import {
  deliveredEvent,
  type InboxScope,
  inboxScope,
  Metrics,
  receivedEvent,
  type StreamClient,
  waitFor,
} from '@restante/testkit'
import { register } from 'prom-client'
import { callerWith, startFanout, type Tenant, type TestFanout } from './fanout.ts'

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

/** A stream with a key that has these permissions, after these subscriptions. */
async function subscribed(frames: object[], options: Parameters<TestFanout['key']>[1] = {}): Promise<StreamClient> {
  const stream = await fanout.connect((await fanout.key(tenant, options)).secret)
  open.push(stream)
  for (const frame of frames)
    expect(await stream.ask({ type: 'subscribe', ...frame })).toMatchObject({ type: 'subscribed' })
  return stream
}

/** The events that each stream has received of these, in the order in which they were published. */
async function gotBy(streams: StreamClient[], ...events: Parameters<TestFanout['publish']>): Promise<unknown[][]> {
  const known = new Map(events.map(({ id, type }) => [id, type]))
  const witness = await subscribed([{ event_types: [...EVENT_TYPES] }])
  for (const event of events) await fanout.publish(event)
  for (const { id } of events) await witness.next((event) => event['event_id'] === id, { what: 'the events' })
  // Frames sent before the answer have arrived when the answer has; streams are not read in any mutual order.
  for (const stream of streams) await stream.ask({ type: 'unsubscribe', pod_ids: [randomUUID()] })
  const order = [...known.keys()]
  return streams.map(({ events: got }) =>
    got
      .map((event) => String(event['event_id']))
      .sort((a, b) => order.indexOf(a) - order.indexOf(b))
      .map((id) => known.get(id)),
  )
}

it('is measured from the event to its distribution, whether a stream wants it or not', async () => {
  const count = async () => new Metrics(await register.metrics()).value('restante_stream_delay_seconds_count') ?? 0
  const before = await count()
  await fanout.publish(receivedEvent(await fanout.gateway.addInbox(await fanout.tenant())))
  await waitFor(async () => (await count()) > before, { what: 'a measured event' })
})

describe('a stream', () => {
  it('gets nothing before its first subscribe and nothing after its last unsubscribe', async () => {
    const stream = await subscribed([])
    expect(await gotBy([stream], receivedEvent(tenant.inbox))).toEqual([[]])
    await stream.ask({ type: 'subscribe' })
    await stream.ask({ type: 'unsubscribe' })
    expect(await gotBy([stream], receivedEvent(tenant.inbox))).toEqual([[]])
  })

  it('gets the same document as a webhook, once however many subscriptions match', async () => {
    const stream = await subscribed([{}, { pod_ids: [tenant.id] }, { inbox_ids: [tenant.inbox.address] }])
    const event = receivedEvent(tenant.inbox, { text: 'Grüße ✓' })
    expect(await gotBy([stream], event)).toEqual([['message.received']])
    expect(stream.events).toEqual([event.payload])
  })

  it('gets the union of its inboxes and pods, and nothing of others', async () => {
    const other = await fanout.gateway.addInbox(tenant)
    const [inbox, pod, both] = [
      await subscribed([{ inbox_ids: [tenant.inbox.address] }]),
      await subscribed([{ pod_ids: [secondPod] }]),
      await subscribed([{ inbox_ids: [tenant.inbox.address], pod_ids: [secondPod] }]),
    ]
    const events = [receivedEvent(tenant.inbox), deliveredEvent(inSecondPod), receivedEvent(other)]
    expect(await gotBy([inbox, pod, both], ...events)).toEqual([
      ['message.received'],
      ['message.delivered'],
      ['message.received', 'message.delivered'],
    ])
  })

  it('applies the later of two frames for one inbox', async () => {
    const inbox_ids = [tenant.inbox.address]
    const stream = await subscribed([
      { inbox_ids, event_types: ['message.received'] },
      { inbox_ids, event_types: ['message.delivered'] },
    ])
    const events = [receivedEvent(tenant.inbox), deliveredEvent(tenant.inbox)]
    expect(await gotBy([stream], ...events)).toEqual([['message.delivered']])
  })

  it('never gets events beyond the scope of its key', async () => {
    const pod = await subscribed([{}], { prefix: `/pods/${tenant.id}` })
    const inbox = await subscribed([{}], { prefix: `/inboxes/${tenant.inbox.address}` })
    const sibling = await fanout.gateway.addInbox(tenant)
    const events = [receivedEvent(tenant.inbox), receivedEvent(sibling), receivedEvent(inSecondPod)]
    expect(await gotBy([pod, inbox], ...events)).toEqual([
      ['message.received', 'message.received'],
      ['message.received'],
    ])
  })

  it('gets the events of an inbox in their order', async () => {
    const stream = await subscribed([{}])
    const events = Array.from({ length: 100 }, () => receivedEvent(tenant.inbox))
    await fanout.publish(...events)
    await waitFor(() => stream.events.length === 100, { what: 'a hundred events' })
    expect(stream.events.map((event) => event['event_id'])).toEqual(events.map(({ id }) => id))
  })
})

describe('permissions', () => {
  it('give a subscription without types no restricted mail, whatever its key allows; one that names the type gets it', async () => {
    const restricted = [['spam'], ['blocked'], ['unauthenticated']].map((labels) =>
      receivedEvent(tenant.inbox, { labels }),
    )
    const bare = await subscribed([{}])
    const empty = await subscribed([{ event_types: [] }, { inbox_ids: [tenant.inbox.address], event_types: null }])
    const named = await subscribed([{ event_types: ['message.received.spam'] }], {
      permissions: ['message_read', 'label_spam_read'],
    })
    expect(await gotBy([bare, empty, named], ...restricted, receivedEvent(tenant.inbox))).toEqual([
      ['message.received'],
      ['message.received'],
      ['message.received.spam'],
    ])
  })

  it('are needed for every restricted label of a mail', async () => {
    const event_types = ['message.received.blocked']
    const one = await subscribed([{ event_types }], { permissions: ['message_read', 'label_blocked_read'] })
    const both = await subscribed([{ event_types }], {
      permissions: ['message_read', 'label_blocked_read', 'label_spam_read'],
    })
    expect(await gotBy([one, both], receivedEvent(tenant.inbox, { labels: ['spam', 'blocked'] }))).toEqual([
      [],
      ['message.received.blocked'],
    ])
  })

  it('without message_read allow a subscription without types, which gets no mail', async () => {
    const stream = await subscribed([{}], { permissions: ['inbox_read'] })
    expect(await gotBy([stream], receivedEvent(tenant.inbox), deliveredEvent(tenant.inbox))).toEqual([[]])
  })

  it('are those at the time when the stream was opened', async () => {
    const key = await fanout.key(tenant)
    const stream = await fanout.connect(key.secret)
    open.push(stream)
    await stream.ask({ type: 'subscribe' })
    await fanout.gateway.request(tenant.key, 'PATCH', `/v0/api-keys/${key.id}`, { permissions: { inbox_read: true } })
    expect(await gotBy([stream], receivedEvent(tenant.inbox))).toEqual([['message.received']])
  })
})

describe('instances', () => {
  it('follow one log: each gives each event to its own streams, once, in the same order', async () => {
    const { port } = await fanout.another()
    const key = await fanout.key(tenant)
    const [here, there] = [
      await fanout.connectAs(callerWith(tenant, key)),
      await fanout.connectAs(callerWith(tenant, key), port),
    ]
    open.push(here, there)
    for (const stream of [here, there]) await stream.ask({ type: 'subscribe' })
    const inboxes = [tenant.inbox, inSecondPod]
    const events = Array.from({ length: 60 }, (_, index) => receivedEvent(inboxes[index % 2] ?? tenant.inbox))
    await fanout.publish(...events)
    for (const stream of [here, there]) await waitFor(() => stream.events.length >= 60, { what: 'all events' })
    expect(here.events).toEqual(there.events)
    expect(new Set(here.events.map((event) => event['event_id'])).size).toBe(60)
  })

  it('deliver an event of any size', async () => {
    const stream = await subscribed([{}])
    const events = Array.from({ length: 20 }, () => receivedEvent(tenant.inbox, { text: 'ä'.repeat(400_000) }))
    for (const [index, event] of events.entries()) {
      await fanout.publish(event)
      // One at a time: beside what it publishes, this process would be a slow reader of several.
      await waitFor(() => stream.events.length === index + 1 || stream.closed, { what: 'a large event' })
    }
    expect(stream.events.map((event) => event['event_id'])).toEqual(events.map(({ id }) => id))
  })
})

describe('an organization', () => {
  it('never sees the events of another', async () => {
    const stream = await subscribed([{}])
    const own = receivedEvent(tenant.inbox)
    await fanout.publish(receivedEvent(inboxScope()), own)
    await stream.next((event) => event['event_id'] === own.id, { what: 'its own event' })
    expect(await gotBy([stream], deliveredEvent(tenant.inbox))).toHaveLength(1)
    expect(stream.events.map((event) => event['event_type'])).toEqual(['message.received', 'message.delivered'])
  })
})
