import { type TopicDefinition, topics } from '@restante/contracts/events'
import { ensureTopics, Kafka } from '@restante/messaging'
import { createLogger } from '@restante/service/telemetry'
import { engines } from './engines.ts'
import { randomName } from './random.ts'

export interface TestTopics {
  /** `TOPIC_PREFIX` of every process of the suite. */
  readonly prefix: string
  /** Connections with that prefix. */
  readonly kafka: Kafka
  /** Deletes everything with the prefix: topics, dead letters and consumer groups. */
  delete(): Promise<void>
}

/** A new prefix for the topics of one suite. */
export function topicPrefix(): string {
  return `test-${randomName()}-`
}

/** Creates every topic of the contracts, or the given ones, under a prefix for this suite. */
export async function createTopics(
  definitions: readonly TopicDefinition[] = Object.values(topics),
): Promise<TestTopics> {
  const prefix = topicPrefix()
  const kafka = testKafka(prefix)
  await ensureTopics(kafka, definitions)
  return { prefix, kafka, delete: () => deleteTopics(kafka, prefix) }
}

/** A connection to the brokers of the tests, or to those given. */
export function testKafka(prefix: string, brokers: readonly string[] = engines.kafkaBrokers): Kafka {
  return new Kafka({
    brokers,
    clientId: 'testkit',
    replication: 1,
    minInsyncReplicas: 1,
    topicPrefix: prefix,
    log: createLogger({ service: 'testkit', level: 'silent' }),
  })
}

function deleteTopics(kafka: Kafka, prefix: string): Promise<void> {
  return kafka.administrate(async (admin) => {
    const names = (await admin.listTopics()).filter((name) => name.startsWith(prefix))
    if (names.length > 0) await admin.deleteTopics({ topics: names })
    const { groups } = await admin.listGroups()
    const ours = groups.map(({ groupId }) => groupId).filter((id) => id.startsWith(prefix))
    // A group whose last member has just left is not empty yet. It is deleted when its offsets expire.
    if (ours.length > 0) await admin.deleteGroups(ours).catch(() => undefined)
  })
}
