import path from 'node:path'
import { Kafka } from '@restante/messaging'
import { deliverOnce, deliverShuffled, deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { Database, sql } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import {
  createDatabase,
  deliveredEvent,
  engines,
  inboxDeletedEvent,
  inboxScope,
  messageDeletedEvent,
  podDeletedEvent,
  receivedEvent,
  type TestDatabase,
} from '@restante/testkit'
import { publicEventsConsumer, tenancyConsumer } from '../../src/log/consumers.ts'
import { LogReader } from '../../src/replay/reader.ts'

const log = createLogger({ service: 'test', level: 'silent' })
let database: TestDatabase
let db: Database
let messages: ReturnType<typeof publicEventsConsumer>
let tenancy: ReturnType<typeof tenancyConsumer>

beforeAll(async () => {
  database = await createDatabase(path.resolve(import.meta.dirname, '../..'))
  db = new Database({ url: database.url, applicationName: 'test' })
  const { kafkaBrokers: brokers } = engines
  const kafka = new Kafka({ brokers, clientId: 'test', replication: 1, minInsyncReplicas: 1, log })
  messages = publicEventsConsumer({ kafka, db, notify: () => {} })
  tenancy = tenancyConsumer({ kafka, db, notify: () => {} })
})
afterAll(async () => {
  await db.stop()
  await database.drop()
})
beforeEach(async () => {
  await db.query(sql<unknown>('truncate stream_log, deleted_messages'))
})

const inLog = sql<{ event_id: string }>('select event_id from stream_log order by position')
const stored = async () => (await db.query(inLog)).map(({ event_id }) => event_id)

/** Ids of the events of an organization that a client which missed everything is given. */
async function replayed(organizationId: string, scopes = ['all']): Promise<string[]> {
  const matches = () => true
  const through = 1_000_000_000n
  const { events } = await new LogReader(db).page({ organizationId, scopes, matches, after: 0n, through })
  return events.map(({ payload }) => JSON.parse(payload).event_id)
}

describe('the events of a deleted message', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'are not in the log, in whatever order and however often it is told (seed %i)',
    async (seed) => {
      const scope = inboxScope()
      const [kept, gone] = [receivedEvent(scope), receivedEvent(scope)]
      await deliverShuffled(messages, seed, kept, gone, messageDeletedEvent(scope, gone))
      expect(await stored()).toEqual([kept.id])
      expect(await replayed(scope.organizationId)).toEqual([kept.id])
    },
  )

  it('do not take along those of a message of the same id in another inbox', async () => {
    const [scope, other] = [inboxScope(), inboxScope()]
    const event = receivedEvent(scope)
    const same = { ...receivedEvent(other), subject: event.subject }
    await deliverTwiceAndSwapped(messages, event, same)
    await deliverTwiceAndSwapped(messages, messageDeletedEvent(scope, event))
    expect(await stored()).toEqual([same.id])
  })

  it('do not take along that of a message which came again under its id later', async () => {
    const scope = inboxScope()
    const event = receivedEvent(scope)
    await deliverOnce(messages, event)
    await deliverOnce(messages, messageDeletedEvent(scope, event))
    const again = { ...receivedEvent(scope), subject: event.subject, time: new Date(Date.now() + 5) }
    await deliverOnce(messages, again)
    expect(await stored()).toEqual([again.id])
    // The deletion of before arrives once more, under another id, long after.
    const late = messageDeletedEvent(scope, event, { deletedAt: new Date(Date.now() - 120_000) })
    await deliverOnce(messages, late)
    expect(await stored()).toEqual([again.id])
  })
})

describe('the events of a deleted inbox or pod', () => {
  it.each([1, 2, 3])('are not replayed, also those that arrive after the deletion (seed %i)', async (seed) => {
    const organizationId = inboxScope().organizationId
    const [inbox, other] = [inboxScope({ organizationId }), inboxScope({ organizationId })]
    const pod = inboxScope({ organizationId, podId: inboxScope().podId })
    const kept = receivedEvent(other)
    await deliverShuffled(messages, seed, receivedEvent(inbox), kept, deliveredEvent(pod))
    await deliverShuffled(tenancy, seed, inboxDeletedEvent(inbox), podDeletedEvent(organizationId, pod.podId))
    await deliverTwiceAndSwapped(messages, deliveredEvent(inbox), receivedEvent(pod))
    expect(await replayed(organizationId)).toEqual([kept.id])
    for (const scope of [`inbox:${inbox.inboxUid}`, `pod:${pod.podId}`]) {
      expect(await replayed(organizationId, [scope])).toEqual([])
    }
    expect(await replayed(organizationId, [`inbox:${other.inboxUid}`, `pod:${other.podId}`])).toEqual([kept.id])
  })
})

describe('the log of one organization', () => {
  it('is not read with the ids of another', async () => {
    const [own, foreign] = [inboxScope(), inboxScope()]
    await deliverTwiceAndSwapped(messages, receivedEvent(own), receivedEvent(foreign))
    const scopes = [`inbox:${foreign.inboxUid}`, `pod:${foreign.podId}`]
    expect(await replayed(own.organizationId, scopes)).toEqual([])
  })

  it('is read in pages that are bounded in events and bytes, and together are complete', async () => {
    const scope = inboxScope()
    const events = Array.from({ length: 40 }, (_, index) =>
      receivedEvent(scope, { text: 'x'.repeat(index % 8 === 0 ? 400_000 : 10) }),
    )
    for (const event of events) await deliverTwiceAndSwapped(messages, event)
    const reader = new LogReader(db)
    const seen: string[] = []
    for (let after = 0n; after < 10_000n; ) {
      const page = await reader.page({
        ...{ organizationId: scope.organizationId, scopes: ['all'], matches: () => true },
        ...{ after, through: 10_000n, limit: 7 },
      })
      expect(page.events.length).toBeLessThanOrEqual(7)
      expect(page.events.reduce((sum, { payload }) => sum + payload.length, 0)).toBeLessThan(1_200_000)
      seen.push(...page.events.map(({ payload }) => JSON.parse(payload).event_id))
      after = page.through
    }
    expect(seen).toEqual(await stored())
  })
})
