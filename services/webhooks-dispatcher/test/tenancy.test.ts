import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { EventOf, Topic } from '@restante/contracts/events'
import { Timers } from '@restante/jobs'
import { Kafka } from '@restante/messaging'
import { deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { Database, sql } from '@restante/service/database'
import { SecretBox } from '@restante/service/secrets'
import { createLogger } from '@restante/service/telemetry'
import type { Tenancy } from '@restante/tenancy'
import {
  createDatabase,
  engines,
  type InboxScope,
  inboxDeletedEvent,
  inboxScope,
  organizationDeletedEvent,
  organizationTakenOverEvent,
  podDeletedEvent,
  receivedEvent,
  type TestDatabase,
} from '@restante/testkit'
import { publicEventsConsumer } from '../src/delivery/consumers.ts'
import { base62Id } from '../src/delivery/ids.ts'
import { sealSecret } from '../src/delivery/secrets.ts'
import type { TimerKinds } from '../src/delivery/timers.ts'
import { openTenancy } from '../src/tenancy/open-tenancy.ts'
import { insertWebhook } from '../src/webhooks/store.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const box = new SecretBox('the key of the stored secrets', 'webhook secrets')
let database: TestDatabase
let db: Database
let tenancy: Tenancy['consumer']
let messages: ReturnType<typeof publicEventsConsumer>

beforeAll(async () => {
  database = await createDatabase(path.resolve(import.meta.dirname, '..'))
  db = new Database({ url: database.url, applicationName: 'test' })
  // Consumers that are not started: events are delivered to them as Kafka may, at its worst.
  const kafka = new Kafka({
    brokers: engines.kafkaBrokers,
    clientId: 'test',
    replication: 1,
    minInsyncReplicas: 1,
    log,
  })
  const timers = new Timers<TimerKinds>({ db, redis: { url: engines.redisUrl, prefix: 'never-started' }, log })
  tenancy = openTenancy({ kafka, db, log, timers }).consumer
  messages = publicEventsConsumer({ kafka, db, timers, concurrency: 50 })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})

interface Given {
  readonly home?: 'organization' | 'pod' | 'inbox'
  readonly inboxes?: readonly InboxScope[]
  readonly pods?: readonly string[]
  /** Number of take-overs of the organization when it was created. */
  readonly takeOvers?: number
}

/** A webhook as `webhooks.create` stores it. */
async function insert(
  scope: InboxScope,
  { home = 'organization', inboxes = [], pods = [], takeOvers = 0 }: Given = {},
): Promise<string> {
  const id = base62Id('ep_')
  await insertWebhook(db, {
    id,
    organizationId: scope.organizationId,
    podId: home === 'organization' ? null : scope.podId,
    inbox: home === 'inbox' ? { uid: scope.inboxUid, address: scope.address } : undefined,
    url: 'http://127.0.0.1:9/',
    secret: sealSecret(box, id, 'whsec_eA=='),
    headers: null,
    eventTypes: ['message.received'],
    filters: { podIds: pods, inboxes: inboxes.map(({ inboxUid, address }) => ({ uid: inboxUid, address })) },
    isFiltered: home !== 'organization' || inboxes.length > 0 || pods.length > 0,
    visibleLabels: [],
    clientId: null,
    createdBy: null,
    takeOvers,
  })
  return id
}

interface Row {
  readonly enabled: boolean
  readonly pod_ids: string[]
  readonly inbox_ids: string[]
  readonly inbox_uids: string[]
}
const selectRow = sql<Row, [id: string]>('select enabled, pod_ids, inbox_ids, inbox_uids from webhooks where id = $1')
const countOf = sql<{ deliveries: number; payloads: number }, [webhook: string]>(
  `select (select count(*)::int from deliveries where webhook_id = $1) as deliveries, (select count(*)::int from payloads) as payloads`,
)

async function rowOf(id: string): Promise<Row | undefined> {
  return (await db.query(selectRow, id))[0]
}

const disable = sql<never, [id: string]>('update webhooks set enabled = false where id = $1')
const countPayloads = sql<{ count: number }, [events: readonly string[]]>(
  'select count(*)::int as count from payloads where event_id = any($1::uuid[])',
)

async function payloadsOf(events: readonly { readonly id: string }[]): Promise<number | undefined> {
  return (
    await db.query(
      countPayloads,
      events.map(({ id }) => id),
    )
  )[0]?.count
}

const insertCrowd = sql<unknown, [webhookId: string, count: number]>(`
with document as (
  insert into payloads (event_id, body) select gen_random_uuid(), '{}' from generate_series(1, $2) returning event_id
)
insert into deliveries (id, webhook_id, event_id, event_type)
select event_id::text, $1, event_id, 'message.received' from document`)

const SEEDS = Array.from({ length: 8 }, (_, index) => index + 1)

/** Two inboxes of one pod, and another pod. */
function neighbours() {
  const organizationId = randomUUID()
  const podId = randomUUID()
  const inbox = inboxScope({ organizationId, podId })
  return { inbox, other: inboxScope({ organizationId, podId }), otherPod: randomUUID() }
}

describe('a deleted inbox whose event arrives twice', () => {
  it('removes its own webhooks, with their pending deliveries', async () => {
    const { inbox, other } = neighbours()
    const own = await insert(inbox, { home: 'inbox', inboxes: [inbox] })
    const others = await insert(other, { home: 'inbox', inboxes: [other] })
    await deliverTwiceAndSwapped(messages, receivedEvent(inbox), receivedEvent(other))
    expect(await db.query(countOf, own)).toEqual([{ deliveries: 1, payloads: 2 }])
    await deliverTwiceAndSwapped(tenancy, inboxDeletedEvent(inbox))
    expect(await rowOf(own)).toBeUndefined()
    expect(await db.query(countOf, others)).toEqual([{ deliveries: 1, payloads: 1 }])
  })

  it('removes pending deliveries in batches, however many there are', async () => {
    const { inbox } = neighbours()
    const own = await insert(inbox, { home: 'inbox', inboxes: [inbox] })
    const before = await db.query(countOf, own)
    await db.query(insertCrowd, own, 25_000)
    expect((await db.query(countOf, own))[0]?.deliveries).toBe(25_000)
    await deliverTwiceAndSwapped(tenancy, inboxDeletedEvent(inbox))
    expect(await rowOf(own)).toBeUndefined()
    expect(await db.query(countOf, own)).toEqual(before)
  })

  it('is removed from the filters of wider webhooks, id and address alike', async () => {
    const { inbox, other } = neighbours()
    const webhook = await insert(inbox, { inboxes: [inbox, other] })
    await deliverTwiceAndSwapped(tenancy, inboxDeletedEvent(inbox))
    expect(await rowOf(webhook)).toEqual({
      enabled: true,
      pod_ids: [],
      inbox_ids: [other.address],
      inbox_uids: [other.inboxUid],
    })
  })

  it('disables a webhook that loses its last id, and drops its pending deliveries, instead of widening it', async () => {
    const { inbox, other } = neighbours()
    const webhook = await insert(inbox, { inboxes: [inbox] })
    const ofPod = await insert(inbox, { home: 'pod', inboxes: [inbox] })
    await deliverTwiceAndSwapped(messages, receivedEvent(inbox))
    await deliverTwiceAndSwapped(tenancy, inboxDeletedEvent(inbox))
    await deliverTwiceAndSwapped(messages, receivedEvent(other))
    for (const id of [webhook, ofPod]) {
      expect(await rowOf(id)).toMatchObject({ enabled: false, inbox_ids: [] })
      expect((await db.query(countOf, id))[0]?.deliveries).toBe(0)
    }
  })

  it('does not affect webhooks of another organization that name the same id', async () => {
    const { inbox } = neighbours()
    const stranger = await insert(inboxScope(), { inboxes: [inbox] })
    await deliverTwiceAndSwapped(tenancy, inboxDeletedEvent(inbox))
    expect(await rowOf(stranger)).toMatchObject({ enabled: true, inbox_uids: [inbox.inboxUid] })
  })
})

describe('a deleted pod whose events arrive repeatedly and in any order with those of its inboxes', () => {
  it.each(SEEDS)('removes its webhooks, and is removed from the filters of others (seed %i)', async (seed) => {
    const { inbox, other, otherPod } = neighbours()
    const gone = [
      await insert(inbox, { home: 'pod', pods: [inbox.podId] }),
      await insert(inbox, { home: 'inbox', inboxes: [inbox] }),
    ]
    const wide = await insert(inbox)
    const both = await insert(inbox, { pods: [inbox.podId, otherPod], inboxes: [inbox, other] })
    const narrow = await insert(inbox, { pods: [inbox.podId], inboxes: [inbox] })
    const events: EventOf<Topic<'tenancy'>>[] = [
      inboxDeletedEvent(inbox),
      inboxDeletedEvent(other),
      podDeletedEvent(inbox.organizationId, inbox.podId),
    ]
    await deliverShuffled(tenancy, seed, ...events)
    for (const id of gone) expect(await rowOf(id)).toBeUndefined()
    expect(await rowOf(wide)).toMatchObject({ enabled: true })
    expect(await rowOf(both)).toEqual({ enabled: true, pod_ids: [otherPod], inbox_ids: [], inbox_uids: [] })
    expect(await rowOf(narrow)).toMatchObject({ enabled: false, pod_ids: [] })
  })
})

describe('a deleted organization', () => {
  it('removes all its webhooks and no others', async () => {
    const { inbox } = neighbours()
    const own = [await insert(inbox), await insert(inbox, { home: 'inbox', inboxes: [inbox] })]
    const stranger = await insert(inboxScope())
    await deliverTwiceAndSwapped(tenancy, organizationDeletedEvent(inbox.organizationId))
    for (const id of own) expect(await rowOf(id)).toBeUndefined()
    expect(await rowOf(stranger)).toBeDefined()
  })
})

describe('a take-over whose events arrive repeatedly and in any order', () => {
  it.each(SEEDS)(
    'removes the webhooks of earlier keys with their pending deliveries, and no later one (seed %i)',
    async (seed) => {
      const { inbox } = neighbours()
      const earlier = [
        await insert(inbox),
        await insert(inbox, { home: 'inbox', inboxes: [inbox] }),
        await insert(inbox, { takeOvers: 1 }),
      ]
      const own = await insert(inbox, { takeOvers: 2 })
      const stranger = await insert(inboxScope())
      await deliverTwiceAndSwapped(messages, receivedEvent(inbox))
      const { organizationId } = inbox
      const events = [
        organizationTakenOverEvent(organizationId, { takeOvers: 1 }),
        organizationTakenOverEvent(organizationId, { takeOvers: 2 }),
        organizationTakenOverEvent(organizationId, { takeOvers: 2, verified: true }),
      ]
      await deliverShuffled(tenancy, seed, ...events)
      for (const id of earlier)
        expect([await rowOf(id), await db.query(countOf, id)]).toMatchObject([undefined, [{ deliveries: 0 }]])
      expect((await db.query(countOf, own))[0]?.deliveries).toBe(1)
      expect(await rowOf(stranger)).toBeDefined()
    },
  )
})

describe('public events that arrive repeatedly and in any order', () => {
  it.each(SEEDS)('make one delivery for each matching webhook (seed %i)', async (seed) => {
    const { inbox, other } = neighbours()
    const both = await insert(inbox, { pods: [inbox.podId], inboxes: [inbox] })
    const all = await insert(inbox)
    const narrow = await insert(inbox, { inboxes: [inbox] })
    const events = [inbox, inbox, other].map((scope) => receivedEvent(scope))
    await deliverShuffled(messages, seed, ...events)
    for (const id of [both, all]) expect((await db.query(countOf, id))[0]?.deliveries).toBe(3)
    expect((await db.query(countOf, narrow))[0]?.deliveries).toBe(2)
    expect(await payloadsOf(events)).toBe(3)
  })

  it('make no delivery for a disabled webhook', async () => {
    const { inbox } = neighbours()
    const webhook = await insert(inbox)
    await db.query(disable, webhook)
    await deliverTwiceAndSwapped(messages, receivedEvent(inbox))
    expect((await db.query(countOf, webhook))[0]?.deliveries).toBe(0)
  })

  it('leave no rows when webhooks are deleted while deliveries are recorded', async () => {
    const { inbox } = neighbours()
    const ids = await Promise.all(Array.from({ length: 10 }, () => insert(inbox)))
    const event = receivedEvent(inbox)
    await Promise.all([
      deliverTwiceAndSwapped(messages, event),
      deliverTwiceAndSwapped(tenancy, organizationDeletedEvent(inbox.organizationId)),
    ])
    for (const id of ids) expect((await db.query(countOf, id))[0]?.deliveries).toBe(0)
    expect(await payloadsOf([event])).toBe(0)
  })
})
