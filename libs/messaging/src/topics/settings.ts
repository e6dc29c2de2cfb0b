import type { TopicDefinition } from '@restante/contracts/events'
import { LIMITS } from '@restante/contracts/vocabulary'
import { deadLetterTopic } from '../dead-letters/dead-letters.ts'
import type { Durability } from '../kafka/kafka.ts'

/** Settings that one topic must have in Kafka, by its name without prefix. */
export interface TopicSettings {
  readonly name: string
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
}

const MAX_RECORD_BYTES = 2 * 1024 * 1024
const DAY_MS = 86_400_000

/** The settings that a definition requires. */
export function topicSettings(topic: TopicDefinition, durability: Durability): TopicSettings {
  return settings(topic.name, topic.partitions, topic.retentionMs, durability)
}

/** The dead letters of a group: one partition, because they are few and are read in the order of failure. */
export function deadLetterSettings(group: string, durability: Durability): TopicSettings {
  return settings(deadLetterTopic(group), 1, LIMITS.retention.deadLetter, durability)
}

function settings(name: string, partitions: number, retentionMs: number, durability: Durability): TopicSettings {
  // Kafka deletes whole segments only. A segment is closed early enough, and its duration subtracted from the
  // retention, so that no record outlives what its topic promises.
  const segmentMs = Math.round(Math.min(DAY_MS / 4, retentionMs / 8))
  return {
    name,
    partitions,
    replication: durability.replication,
    config: {
      'cleanup.policy': 'delete',
      'compression.type': 'gzip',
      'max.message.bytes': String(MAX_RECORD_BYTES),
      'retention.ms': String(retentionMs - segmentMs),
      'segment.ms': String(segmentMs),
      'min.insync.replicas': String(durability.minInsyncReplicas),
      'unclean.leader.election.enable': 'false',
    },
  }
}
