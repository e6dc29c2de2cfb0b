import { randomUUID } from 'node:crypto'
import type { Consumer, ConsumerConfig } from 'kafkajs'
import type { Kafka } from '../kafka/kafka.ts'

/**
 * Runs something with a consumer that is the only member of a group of its own, which affects no other consumer and is deleted
 * at the end. The name of the group begins with that of the service, as those of its consumers do: it needs no further rights at
 * the brokers.
 * @throws what `use` throws.
 */
export async function withReader<T>(
  kafka: Kafka,
  options: Pick<ConsumerConfig, 'maxWaitTimeInMs' | 'retry'>,
  use: (consumer: Consumer) => Promise<T>,
): Promise<T> {
  const groupId = kafka.physical(`${kafka.clientId}.reader-${randomUUID()}`)
  const consumer = kafka.consumer({ groupId, minBytes: 1, ...options })
  try {
    return await use(consumer)
  } finally {
    await consumer.disconnect().catch(() => {})
    await kafka.administrate((admin) => admin.deleteGroups([groupId])).catch(() => {})
  }
}

/** Of a reading that takes long: its session ends with its first failure that repetitions do not mend. */
export const LONG_READING = {
  maxWaitTimeInMs: 500,
  retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 2_000, restartOnFailure: async () => false },
}
