import type { Kafka } from '@restante/messaging'
import { PATIENCE_MS } from '@restante/service/testing'
import { type WaitOptions, waitFor } from '../timing/wait-for.ts'
import { randomName } from './random.ts'

/** One record as any Kafka client sees it. */
export interface CollectedRecord {
  readonly key: string
  /** `ce_type`. */
  readonly type: string
  /** `ce_id`. */
  readonly id: string
  readonly headers: Readonly<Record<string, string>>
  readonly value: string
}

export interface TopicCollection {
  /** All records of the topic, from its beginning, in order of arrival. */
  readonly records: readonly CollectedRecord[]
  /** Resolves to the first record that matches, present or future. */
  next(matches: (record: CollectedRecord) => boolean, options: WaitOptions): Promise<CollectedRecord>
  stop(): Promise<void>
}

/** Reads a topic of the suite from its beginning until it is stopped. */
export async function collectTopic(kafka: Kafka, topic: string): Promise<TopicCollection> {
  const groupId = kafka.physical(`collect-${randomName()}`)
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 50, sessionTimeout: PATIENCE_MS })
  const records: CollectedRecord[] = []
  // A consumer that has lost its partitions to a pause reads them from the beginning again.
  const collected = new Set<string>()
  await consumer.connect()
  await consumer.subscribe({ topic: kafka.physical(topic), fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      const place = `${partition}:${message.offset}`
      if (collected.has(place)) return
      collected.add(place)
      const headers = Object.fromEntries(
        Object.entries(message.headers ?? {}).map(([name, value]) => [name, value?.toString() ?? '']),
      )
      records.push({
        key: message.key?.toString() ?? '',
        type: headers['ce_type'] ?? '',
        id: headers['ce_id'] ?? '',
        headers,
        value: message.value?.toString() ?? '',
      })
    },
  })
  return {
    records,
    next: (matches, options) => waitFor(() => records.find(matches), options),
    async stop() {
      await consumer.disconnect()
      await kafka.administrate((admin) => admin.deleteGroups([groupId])).catch(() => undefined)
    },
  }
}
