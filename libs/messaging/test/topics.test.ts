import type { TopicDefinition } from '@restante/contracts/events'
import { checkTopics, ensureTopics, Kafka, TopicsCheck } from '../src/index.ts'
import { BROKERS, letters, MessagingFixture, until } from './fixture.ts'

describe('topics', () => {
  let fixture: MessagingFixture
  beforeEach(async () => {
    fixture = await MessagingFixture.open()
  })
  afterEach(() => fixture.close())

  const more = { ...letters, name: 'more' } as const satisfies TopicDefinition

  it('are created once, as their definitions say', async () => {
    expect(await ensureTopics(fixture.kafka, [letters, more])).toEqual(['more'])
    expect(await ensureTopics(fixture.kafka, [letters, more])).toEqual([])
    expect(await checkTopics(fixture.kafka, [letters, more])).toEqual([])
  })

  it('keep a service unready while they are missing or give less than it needs', async () => {
    await new TopicsCheck(fixture.kafka, [letters]).ready()
    await expect(new TopicsCheck(fixture.kafka, [letters, more]).ready()).rejects.toThrow('more: does not exist')
    const wider = { ...letters, partitions: 12 }
    await expect(new TopicsCheck(fixture.kafka, [wider]).ready()).rejects.toThrow('letters: has 3 partitions, not 12')
    const production = new Kafka({
      brokers: BROKERS,
      clientId: 'production',
      replication: 3,
      minInsyncReplicas: 2,
      topicPrefix: fixture.prefix,
      log: fixture.log,
    })
    await expect(new TopicsCheck(production, [letters]).ready()).rejects.toThrow(
      /1 replicas, not 3.*min\.insync\.replicas is 1/,
    )
  })

  it('leave a service ready when another release keeps them for another time, or has more partitions', async () => {
    const other = { ...letters, retentionMs: letters.retentionMs * 2, partitions: letters.partitions - 1 }
    expect(await checkTopics(fixture.kafka, [other])).toHaveLength(3)
    await new TopicsCheck(fixture.kafka, [other]).ready()
  })

  it('get a new retention when their definition changes, and never a different number of partitions', async () => {
    const changed = { ...letters, retentionMs: 7_200_000, partitions: 6 }
    expect(await checkTopics(fixture.kafka, [changed])).toHaveLength(3)
    await ensureTopics(fixture.kafka, [changed])
    // A broker answers by its copy of the settings, which follows a moment later.
    const left = () => checkTopics(fixture.kafka, [changed])
    await until(async () => (await left()).length < 3)
    expect(await left()).toEqual(['letters: has 3 partitions, not 6'])
  })
})
