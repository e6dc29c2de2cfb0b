import { randomUUID } from 'node:crypto'
import type { Admin, KafkaMessage } from 'kafkajs'
import type { HeaderMap } from '../kafka/envelope.ts'
import type { Kafka } from '../kafka/kafka.ts'
import { textHeaders } from '../kafka/record.ts'
import { DEAD_LETTER, deadLetterTopic, REPLAY_HEADER } from './dead-letters.ts'

/** One record that a consumer could not handle. */
export interface DeadLetter {
  /** Its offset among the dead letters; identifies it on the command line. */
  readonly offset: number
  readonly reason: string
  readonly error: string
  readonly failedAt: string
  /** Where the record came from: topic without prefix, partition and offset. */
  readonly origin: { readonly topic: string; readonly partition: number; readonly offset: number }
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** The record's own headers. */
  readonly headers: HeaderMap
}

/** Groups that have dead letters, with their number. */
export async function deadLetterGroups(kafka: Kafka): Promise<{ group: string; letters: number }[]> {
  const counted = await countDeadLetters(kafka, await knownGroups(kafka))
  return counted.filter(({ letters }) => letters > 0)
}

/** The number of dead letters of each of these groups: 0 for one that has no dead-letter topic yet. */
export async function countDeadLetters(
  kafka: Kafka,
  groups: readonly string[],
): Promise<{ group: string; letters: number }[]> {
  return kafka.administrate(async (admin) => {
    const existing = new Set(await groupsOf(kafka, admin))
    const counted = groups.map(async (group) => {
      if (!existing.has(group)) return { group, letters: 0 }
      const { high, low } = await bounds(kafka, admin, deadLetterTopic(group))
      return { group, letters: high - low }
    })
    return Promise.all(counted)
  })
}

/** Every group of this installation that could have dead letters, in alphabetical order. */
export async function knownGroups(kafka: Kafka): Promise<string[]> {
  return kafka.administrate((admin) => groupsOf(kafka, admin))
}

async function groupsOf(kafka: Kafka, admin: Admin): Promise<string[]> {
  const suffix = deadLetterTopic('')
  const names = (await admin.listTopics()).map((name) => kafka.logical(name)).filter((name) => name !== undefined)
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .sort()
}

/** Reads all dead letters of a group, oldest first. */
export async function readDeadLetters(kafka: Kafka, group: string): Promise<DeadLetter[]> {
  const topic = deadLetterTopic(group)
  return kafka.administrate(async (admin) => {
    const { high, low } = await bounds(kafka, admin, topic)
    if (high === low) return []
    const reader = kafka.physical(`dead-letters-${randomUUID()}`)
    const consumer = kafka.consumer({ groupId: reader, maxWaitTimeInMs: 100 })
    const letters: DeadLetter[] = []
    try {
      await consumer.connect()
      await consumer.subscribe({ topic: kafka.physical(topic), fromBeginning: true })
      await new Promise<void>((resolve, reject) => {
        consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
        const run = consumer.run({
          autoCommit: false,
          eachBatch: async ({ batch }) => {
            letters.push(...batch.messages.map(toDeadLetter))
            if (Number(batch.lastOffset()) >= high - 1) resolve()
          },
        })
        run.catch(reject)
      })
    } finally {
      await consumer.disconnect()
      await admin.deleteGroups([reader]).catch(() => {})
    }
    return letters.filter((letter) => letter.offset < high)
  })
}

/**
 * Publishes dead letters to their topics again, for their group only, with the original key and headers. A dead letter
 * has no mark, so it is handled as if for the first time; one that was handled in the meantime is recognised by its
 * mark.
 */
export async function replayDeadLetters(kafka: Kafka, group: string, letters: readonly DeadLetter[]): Promise<void> {
  const producer = kafka.producer()
  await producer.connect()
  try {
    for (const letter of letters) {
      await producer.send({
        topic: kafka.physical(letter.origin.topic),
        acks: -1,
        messages: [{ key: letter.key, value: letter.value, headers: { ...letter.headers, [REPLAY_HEADER]: group } }],
      })
    }
  } finally {
    await producer.disconnect()
  }
}

/** Removes the dead letters up to and including an offset. */
export async function removeDeadLetters(kafka: Kafka, group: string, upTo: number): Promise<void> {
  const topic = deadLetterTopic(group)
  await kafka.administrate(async (admin) => {
    // Asking for the offsets makes the client learn the topic's leader, without which it cannot delete.
    await bounds(kafka, admin, topic)
    await admin.deleteTopicRecords({
      topic: kafka.physical(topic),
      partitions: [{ partition: 0, offset: String(upTo + 1) }],
    })
  })
}

function toDeadLetter(message: KafkaMessage): DeadLetter {
  const all = textHeaders(message.headers)
  const own = new Set<string>(Object.values(DEAD_LETTER))
  return {
    offset: Number(message.offset),
    reason: all[DEAD_LETTER.reason] ?? 'unknown',
    error: all[DEAD_LETTER.error] ?? '',
    failedAt: all[DEAD_LETTER.time] ?? '',
    origin: {
      topic: all[DEAD_LETTER.topic] ?? '',
      partition: Number(all[DEAD_LETTER.partition]),
      offset: Number(all[DEAD_LETTER.offset]),
    },
    key: message.key,
    value: message.value,
    headers: Object.fromEntries(Object.entries(all).filter(([name]) => !own.has(name))),
  }
}

async function bounds(kafka: Kafka, admin: Admin, topic: string): Promise<{ high: number; low: number }> {
  const [found] = await admin.fetchTopicOffsets(kafka.physical(topic))
  return { high: Number(found?.high ?? 0), low: Number(found?.low ?? 0) }
}
