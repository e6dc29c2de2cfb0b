import { topics } from '@restante/contracts/events'
import { SERVICES, STORING_SERVICES } from '@restante/contracts/vocabulary'
import { collectTopic, testKafka, waitFor } from '@restante/testkit'
import pg from 'pg'
import type { Endpoints } from '../stack/endpoints.ts'

type Kafka = ReturnType<typeof testKafka>

/**
 * Delivers every record of every topic to every consumer again, as if none had been processed: the worst that a
 * restored backup, a reset group or a replay of dead letters can do. Resolves when all of it is consumed.
 * @returns how many records there were.
 */
export async function replayEverything(endpoints: Endpoints): Promise<number> {
  const kafka = testKafka(endpoints.topicPrefix)
  await forgetMarks(endpoints)
  const producer = kafka.producer()
  await producer.connect()
  try {
    const counts = await Promise.all(Object.values(topics).map(({ name }) => replay(kafka, producer, name)))
    await consumed(kafka)
    return counts.reduce((sum, count) => sum + count, 0)
  } finally {
    await producer.disconnect()
  }
}

async function replay(kafka: Kafka, producer: ReturnType<Kafka['producer']>, name: string): Promise<number> {
  const topic = kafka.physical(name)
  const offsets = await kafka.administrate((admin) => admin.fetchTopicOffsets(topic))
  const total = offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
  const collection = await collectTopic(kafka, name)
  try {
    await waitFor(() => collection.records.length >= total, { what: `${total} records of ${name}` })
  } finally {
    await collection.stop()
  }
  const messages = collection.records.map(({ key, value, headers }) => ({ key, value, headers: { ...headers } }))
  if (messages.length > 0) await producer.send({ topic, acks: -1, messages })
  return messages.length
}

/** Resolves when the groups of all services have committed the end of their topics. */
export async function consumed(kafka: Kafka): Promise<void> {
  await waitFor(
    () =>
      kafka.administrate(async (admin) => {
        const { groups } = await admin.listGroups()
        const ours = groups
          .map(({ groupId }) => groupId)
          .filter((id) => SERVICES.some((name) => id.startsWith(kafka.physical(`${name}.`))))
        for (const groupId of ours) {
          for (const { topic, partitions } of await admin.fetchOffsets({ groupId })) {
            const ends = await admin.fetchTopicOffsets(topic)
            const behind = partitions.filter(({ partition, offset }) => {
              const end = ends.find((it) => it.partition === partition)
              return Number(end?.high ?? 0) > Math.max(Number(offset), Number(end?.low ?? 0))
            })
            if (behind.length > 0) return false
          }
        }
        return ours.length > 0
      }),
    { what: 'every group to be at the end of its topics', interval: 200 },
  )
}

async function forgetMarks(endpoints: Endpoints): Promise<void> {
  for (const service of STORING_SERVICES) {
    const client = new pg.Client({ connectionString: endpoints.databases[service] })
    await client.connect()
    try {
      await client.query('delete from consumed')
    } finally {
      await client.end()
    }
  }
}

/** The number of kafkajs for topics as configurable resources. */
const TOPIC = 2

/**
 * The longest time that each topic of the installation keeps a record, in milliseconds, as configured on its brokers.
 */
export function retentionOfTopics(endpoints: Endpoints): Promise<Map<string, number>> {
  const kafka = testKafka(endpoints.topicPrefix)
  return kafka.administrate(async (admin) => {
    const names = (await admin.listTopics()).filter((name) => name.startsWith(endpoints.topicPrefix))
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map((name) => ({ type: TOPIC, name, configNames: ['retention.ms', 'segment.ms'] })),
    })
    return new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName.slice(endpoints.topicPrefix.length),
        // A record is deleted with its segment, which is closed at this age.
        configEntries.reduce((sum, { configValue }) => sum + Number(configValue), 0),
      ]),
    )
  })
}
