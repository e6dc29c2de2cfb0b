import type { ServiceName, TopicDefinition } from '@restante/contracts'
import { consumerGroup, deadLetterTopic } from '../dead-letters/dead-letters.ts'

/** How the cluster keeps topics: one replica on a developer's machine, three where mail must survive a broker. */
export interface Durability {
  readonly replication: number
  readonly minInsyncReplicas: number
}

/** Topics, and the consumers that read them: each has dead letters of its own. */
export interface Catalog {
  readonly topics: readonly TopicDefinition[]
  readonly consumers: readonly { readonly service: ServiceName; readonly topic: TopicDefinition }[]
}

/** One topic as it has to be in Kafka, by its name without prefix. */
export interface TopicSettings {
  readonly name: string
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
}

const MAX_RECORD_BYTES = 2 * 1024 * 1024
const DAY_MS = 86_400_000
const DEAD_LETTER_RETENTION_MS = 14 * DAY_MS

/** What the catalog asks of Kafka, each topic once. */
export function settingsOf(catalog: Catalog, durability: Durability): TopicSettings[] {
  const topics = catalog.topics.map((topic) => settings(topic.name, topic.partitions, topic.retentionMs, durability))
  const deadLetters = catalog.consumers.map(({ service, topic }) =>
    // One partition: few records, and a person reads them in the order in which they failed.
    settings(deadLetterTopic(consumerGroup(service, topic)), 1, DEAD_LETTER_RETENTION_MS, durability),
  )
  return [...topics, ...deadLetters]
}

function settings(name: string, partitions: number, retentionMs: number, durability: Durability): TopicSettings {
  return {
    name,
    partitions,
    replication: durability.replication,
    config: {
      'cleanup.policy': 'delete',
      'compression.type': 'gzip',
      'max.message.bytes': String(MAX_RECORD_BYTES),
      'retention.ms': String(retentionMs),
      // A record goes with its whole segment, so a segment is closed soon enough for retention to mean what it says.
      'segment.ms': String(Math.min(DAY_MS / 4, retentionMs)),
      'min.insync.replicas': String(durability.minInsyncReplicas),
      'unclean.leader.election.enable': 'false',
    },
  }
}
