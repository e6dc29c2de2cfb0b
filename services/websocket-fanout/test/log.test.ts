import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { Kafka } from '@restante/messaging'
import { deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { Database, sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import {
  createDatabase,
  credentialDeletedEvent,
  deliveredEvent,
  engines,
  inboxDeletedEvent,
  inboxScope,
  organizationDeletedEvent,
  podDeletedEvent,
  receivedEvent,
  type TestDatabase,
  waitFor,
} from '@restante/testkit'
import { publicEventsConsumer, tenancyConsumer } from '../src/log/consumers.ts'
import { entriesAfter, type LogEntry } from '../src/log/store.ts'
import { deleteEntriesBefore } from '../src/log/sweeper.ts'
import { LogTail } from '../src/log/tail.ts'
import { TakeOvers } from '../src/log/take-overs.ts'

const log = createLogger({ service: 'test', level: 'silent' })
const MEGABYTE = 1024 * 1024
let database: TestDatabase
let db: Database
let messages: ReturnType<typeof publicEventsConsumer>
let tenancy: ReturnType<typeof tenancyConsumer>

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
  // What they write is notified by another instance than the one that follows the log below.
  const { notify } = new LogTail({ db, log, deliver: () => {}, takeOvers: new TakeOvers() })
  messages = publicEventsConsumer({ kafka, db, notify })
  tenancy = tenancyConsumer({ kafka, db, notify })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})
beforeEach(async () => {
  await db.query(sql<unknown>('truncate stream_log'))
})

const selectAll = sql<LogEntry & { event_id: string }>(
  `select position::text, event_id, kind, type, organization_id, pod_id, inbox_uid, credential_id, restricted, payload
   from stream_log order by stream_log.position`,
)
const age = sql<unknown, [eventId: string, hours: number]>(
  `update stream_log set created_at = now() - interval '1 hour' * $2 where event_id = $1`,
)

const SEEDS = [1, 2, 3, 4, 5, 6]

describe('events that arrive repeatedly and in any order', () => {
  it.each(SEEDS)('are in the log once each, with their routing, byte for byte (seed %i)', async (seed) => {
    const scope = inboxScope()
    const [received, delivered] = [receivedEvent(scope, { labels: ['spam'] }), deliveredEvent(scope)]
    await deliverShuffled(messages, seed, received, delivered)
    const entries = await db.query(selectAll)
    expect(entries).toHaveLength(2)
    expect(entries.find(({ event_id }) => event_id === received.id)).toMatchObject({
      kind: 'event',
      type: 'message.received.spam',
      organization_id: scope.organizationId,
      pod_id: scope.podId,
      inbox_uid: scope.inboxUid,
      restricted: ['spam'],
      payload: JSON.stringify(received.payload),
    })
  })

  it.each(SEEDS)('end keys, inboxes, pods and organizations once each, and nothing else (seed %i)', async (seed) => {
    const scope = inboxScope()
    const credential = randomUUID()
    await deliverShuffled(
      tenancy,
      seed,
      credentialDeletedEvent(scope.organizationId, credential),
      inboxDeletedEvent(scope),
      podDeletedEvent(scope.organizationId, scope.podId),
      organizationDeletedEvent(scope.organizationId),
    )
    const entries = await db.query(selectAll)
    expect(entries.map(({ kind }) => kind).sort()).toEqual([
      'credential_ended',
      'inbox_deleted',
      'organization_deleted',
      'pod_deleted',
    ])
    expect(entries.find(({ kind }) => kind === 'credential_ended')?.credential_id).toBe(credential)
    expect(entries.find(({ kind }) => kind === 'inbox_deleted')?.inbox_uid).toBe(scope.inboxUid)
    expect(entries.find(({ kind }) => kind === 'pod_deleted')?.pod_id).toBe(scope.podId)
  })
})

describe('the stream log', () => {
  it('is read in bounded batches of at least one entry each', async () => {
    const events = Array.from({ length: 6 }, () => receivedEvent(inboxScope(), { text: 'x'.repeat(300_000) }))
    for (const event of events) await deliverTwiceAndSwapped(messages, event)
    expect(await entriesAfter(db, '0', 100, 10 * MEGABYTE)).toHaveLength(6)
    expect(await entriesAfter(db, '0', 4, 10 * MEGABYTE)).toHaveLength(4)
    expect((await entriesAfter(db, '0', 100, MEGABYTE)).length).toBeLessThan(6)
    expect(await entriesAfter(db, '0', 100, 1)).toHaveLength(1)
  })

  it('deletes entries older than a day, a bounded number at a time', async () => {
    const events = Array.from({ length: 5 }, () => receivedEvent(inboxScope()))
    for (const event of events) await deliverTwiceAndSwapped(messages, event)
    for (const { id } of events.slice(0, 3)) await db.query(age, id, 25)
    const yesterday = new Date(Date.now() - 24 * 3_600_000)
    expect(await deleteEntriesBefore(db, yesterday, 2)).toBe(2)
    expect(await deleteEntriesBefore(db, yesterday, 2)).toBe(1)
    expect((await db.query(selectAll)).map(({ event_id }) => event_id)).toEqual(events.slice(3).map(({ id }) => id))
  })

  it('is followed in order and without a gap, despite concurrent writers and broken connections', async () => {
    const seen: string[] = []
    const tail = new LogTail({
      db,
      log,
      deliver: ({ payload }) => seen.push(JSON.parse(payload).event_id),
      takeOvers: new TakeOvers(),
    })
    await tail.start()
    const events = Array.from({ length: 200 }, () => deliveredEvent(inboxScope()))
    const half = events.slice(0, 100)
    await Promise.all(half.map((event) => deliverTwiceAndSwapped(messages, event)))
    await waitFor(() => seen.length === 100, { what: 'the first half' })
    const cut = sql<unknown>(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`,
    )
    await db.query(cut)
    await Promise.all(events.slice(100).map((event) => deliverTwiceAndSwapped(messages, event)))
    await waitFor(() => seen.length === 200, { what: 'the second half' })
    await tail.stop()
    expect(seen).toEqual((await db.query(selectAll)).map(({ event_id }) => event_id))
  })
})
