import type { TopicDefinition } from '@restante/contracts/events'
import { checkTopics, ensureTopics, Kafka, TopicsCheck } from '../src/index.ts'
import { BROKERS, letters, Stage } from './stage.ts'

describe('topics', () => {
  let stage: Stage
  beforeEach(async () => {
    stage = await Stage.open()
  })
  afterEach(() => stage.close())

  const more = { ...letters, name: 'more' } as const satisfies TopicDefinition

  it('are created once, as their definitions say', async () => {
    expect(await ensureTopics(stage.kafka, [letters, more])).toEqual(['more'])
    expect(await ensureTopics(stage.kafka, [letters, more])).toEqual([])
    expect(await checkTopics(stage.kafka, [letters, more])).toEqual([])
  })

  it('keep a service unready while they are missing or different', async () => {
    await new TopicsCheck(stage.kafka, [letters]).ready()
    await expect(new TopicsCheck(stage.kafka, [letters, more]).ready()).rejects.toThrow('more: does not exist')
    const wider = { ...letters, partitions: 12 }
    await expect(new TopicsCheck(stage.kafka, [wider]).ready()).rejects.toThrow('letters: has 3 partitions, not 12')
    const production = new Kafka({
      brokers: BROKERS,
      clientId: 'production',
      replication: 3,
      minInsyncReplicas: 2,
      topicPrefix: stage.prefix,
      log: stage.log,
    })
    await expect(new TopicsCheck(production, [letters]).ready()).rejects.toThrow(
      /1 replicas, not 3.*min\.insync\.replicas is 1/,
    )
  })

  it('get a new retention when their definition changes, and never a different number of partitions', async () => {
    const changed = { ...letters, retentionMs: 7_200_000, partitions: 6 }
    expect(await checkTopics(stage.kafka, [changed])).toHaveLength(3)
    await ensureTopics(stage.kafka, [changed])
    expect(await checkTopics(stage.kafka, [changed])).toEqual(['letters: has 3 partitions, not 6'])
  })
})
