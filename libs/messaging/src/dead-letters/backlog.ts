import { within } from '@restante/service/concurrency'
import { Periodic } from '@restante/service/process'
import type { Kafka } from '../kafka/kafka.ts'
import { deadLettersWaiting } from '../kafka/telemetry.ts'
import { countDeadLetters } from './reader.ts'

const EVERY_MS = 30_000
/** Less than kafkajs retries, because a shutdown waits for the count that is running. */
const ANSWER_MS = 5_000

/** Reports as metrics how many dead letters the consumer groups of a service have. */
export class DeadLetterBacklog extends Periodic {
  constructor(kafka: Kafka, groups: readonly string[]) {
    super({
      name: 'dead letter backlog',
      everyMs: EVERY_MS,
      log: kafka.log,
      work: async () => {
        const counted = await within(ANSWER_MS, countDeadLetters(kafka, groups), () => {
          throw new Error(`Kafka did not answer for ${ANSWER_MS} ms`)
        })
        for (const { group, letters } of counted) deadLettersWaiting.set({ group }, letters)
      },
    })
  }

  /** The first count comes at once, so that a restart does not hide dead letters. */
  override async start(): Promise<void> {
    this.notify()
    await super.start()
  }
}
