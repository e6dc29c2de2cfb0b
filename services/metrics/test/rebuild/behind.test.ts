import path from 'node:path'
import { Database } from '@restante/service/database'
import { createLogger } from '@restante/service/telemetry'
import {
  countRows,
  createDatabase,
  createTopics,
  EventPublisher,
  inboxScope,
  queryRows,
  waitFor,
} from '@restante/testkit'
import { LIVE_GROUPS } from '../../src/counting/running-rebuild.ts'
import { Rebuilder } from '../../src/rebuild/rebuilder.ts'
import { storage } from '../support/happenings.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

it('does not switch over before the live consumers have counted what it has read', async () => {
  const [database, topics] = await Promise.all([
    createDatabase(path.resolve(import.meta.dirname, '../..')),
    createTopics(),
  ])
  cleanUps.push(
    () => database.drop(),
    () => topics.delete(),
  )
  const db = new Database({ url: database.url, applicationName: 'test' })
  cleanUps.push(() => db.stop())
  const { topic, event } = storage(inboxScope(), 'message.stored', new Date(), { size: 50 })
  const publisher = new EventPublisher(topics.kafka)
  cleanUps.push(() => publisher.stop())
  await publisher.publish(topic, event)
  const rebuilder = new Rebuilder({ kafka: topics.kafka, db, log: createLogger({ service: 'test', level: 'silent' }) })
  await rebuilder.start()
  cleanUps.push(() => rebuilder.stop())
  expect(await rebuilder.begin('ada')).toBe(true)

  const state = async () => (await queryRows<{ state: string }>(db, 'select state from rebuilds'))[0]?.state
  const read = 'rebuild_partitions where next = until and until > first'
  await waitFor(async () => (await countRows(db, read)) === 1, { what: 'the event to be read' })
  // Each round of its work has a lease of its own.
  const rounds = new Set<string>()
  const hasGoneOn = async () => {
    for (const { holder } of await queryRows<{ holder: string }>(db, 'select holder from leases')) rounds.add(holder)
    return rounds.size > 2 || (await state()) !== 'reading'
  }
  await waitFor(hasGoneOn, { what: 'further rounds', interval: 1 })
  expect(await state()).toBe('reading')

  await topics.kafka.administrate((admin) =>
    admin.setOffsets({
      groupId: topics.kafka.physical(LIVE_GROUPS.facts),
      topic: topics.kafka.physical(topic.name),
      partitions: Array.from({ length: topic.partitions }, (_, partition) => ({ partition, offset: '1' })),
    }),
  )
  await waitFor(async () => (await state()) === 'switched', { what: 'the switch' })
})
