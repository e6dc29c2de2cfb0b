import { SERVICES, topics } from '@restante/contracts'
import { collectTopic, testKafka, waitFor } from '@restante/testkit'
import pg from 'pg'
import type { Place } from '../stack/place.ts'

type Kafka = ReturnType<typeof testKafka>

/**
 * Lets every consumer see every record of every topic again, as if it had never seen one: what a restored backup, a
 * reset group or a replay of dead letters can do at worst. Resolves when all of it was consumed.
 * @returns how many records there were.
 */
export async function replayEverything(place: Place): Promise<number> {
  const kafka = testKafka(place.topicPrefix)
  await forgetMarks(place)
  const producer = kafka.producer()
  await producer.connect()
  let count = 0
  try {
    for (const { name } of Object.values(topics)) count += await replay(kafka, producer, name)
  } finally {
    await producer.disconnect()
  }
  await consumed(kafka)
  return count
}

async function replay(kafka: Kafka, producer: ReturnType<Kafka['producer']>, name: string): Promise<number> {
  const topic = kafka.physical(name)
  const offsets = await kafka.administrate((admin) => admin.fetchTopicOffsets(topic))
  const total = offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
  const collection = await collectTopic(kafka, name)
  try {
    await waitFor(() => collection.records.length >= total, { what: `${total} records of ${name}`, timeout: 20_000 })
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
    { what: 'every group to be at the end of its topics', timeout: 30_000, interval: 200 },
  )
}

async function forgetMarks(place: Place): Promise<void> {
  for (const service of SERVICES) {
    const client = new pg.Client({ connectionString: place.databases[service] })
    await client.connect()
    try {
      await client.query('delete from consumed')
    } finally {
      await client.end()
    }
  }
}

/** kafkajs' number for topics among the things that can be configured. */
const TOPIC = 2

/** How long each topic of the installation keeps a record at most, in milliseconds, as its brokers have it. */
export function retentionOfTopics(place: Place): Promise<Map<string, number>> {
  const kafka = testKafka(place.topicPrefix)
  return kafka.administrate(async (admin) => {
    const names = (await admin.listTopics()).filter((name) => name.startsWith(place.topicPrefix))
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map((name) => ({ type: TOPIC, name, configNames: ['retention.ms', 'segment.ms'] })),
    })
    return new Map(
      resources.map(({ resourceName, configEntries }) => [
        resourceName.slice(place.topicPrefix.length),
        // A record goes with its segment, which is closed when it is this old.
        configEntries.reduce((sum, { configValue }) => sum + Number(configValue), 0),
      ]),
    )
  })
}
