import { jitteredBackoff, pause } from '@restante/service/concurrency'
import type { Logger } from '@restante/service/telemetry'
import kafkajs, { type Producer } from 'kafkajs'
import { InvalidRecordError } from '../kafka/envelope.ts'
import type { Kafka } from '../kafka/kafka.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { deadLettered } from '../kafka/telemetry.ts'

const RETRY = { firstMs: 500, longestMs: 3_000 }

/** Headers that a dead letter carries in addition to the record's own. */
export const DEAD_LETTER = {
  group: 'restante_dlq_group',
  reason: 'restante_dlq_reason',
  error: 'restante_dlq_error',
  topic: 'restante_dlq_topic',
  partition: 'restante_dlq_partition',
  offset: 'restante_dlq_offset',
  time: 'restante_dlq_time',
} as const

/** Header of a dead letter that was published again: the one group that is to handle it. */
export const REPLAY_HEADER = 'restante_replay'

/** `invalid`: no handler could read it; `failed`: every attempt of the handler threw. */
export type DeadLetterReason = 'invalid' | 'failed'

/** The consumer group of a service on a topic; its dead letters are in `<group>.dlq`. */
export function consumerGroup(service: string, name: string): string {
  return `${service}.${name}`
}

export function deadLetterTopic(group: string): string {
  return `${group}.dlq`
}

/** Writes events that a consumer cannot handle to its dead letters. */
export class DeadLetters {
  readonly #kafka: Kafka
  readonly #group: string
  readonly #log: Logger
  #producer: Promise<Producer> | undefined

  constructor(options: { kafka: Kafka; group: string }) {
    this.#kafka = options.kafka
    this.#group = options.group
    this.#log = options.kafka.log
  }

  /**
   * Resolves when the dead letter is stored in Kafka, however long that takes; a failed write is an infrastructure
   * failure. Resolves with `undefined` when the signal is aborted first.
   */
  async write(record: ConsumedRecord, error: unknown, signal: AbortSignal): Promise<DeadLetterReason | undefined> {
    const reason = error instanceof InvalidRecordError ? 'invalid' : 'failed'
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#send(record, reason, error)
        deadLettered.inc({ group: this.#group, reason })
        return reason
      } catch (failure) {
        failures++
        this.#log.warn({ group: this.#group, failures, reason: String(failure) }, 'dead letter write failed, retrying')
        await pause(jitteredBackoff(failures, RETRY), signal)
      }
    }
    return undefined
  }

  async close(): Promise<void> {
    const producer = this.#producer
    this.#producer = undefined
    await (await producer?.catch(() => undefined))?.disconnect().catch(() => {})
  }

  async #send(record: ConsumedRecord, reason: DeadLetterReason, error: unknown): Promise<void> {
    this.#producer ??= this.#connect()
    try {
      const producer = await this.#producer
      await producer.send({
        topic: this.#kafka.physical(deadLetterTopic(this.#group)),
        acks: -1,
        compression: kafkajs.CompressionTypes.GZIP,
        messages: [
          {
            key: record.key,
            value: record.value,
            headers: {
              ...record.headers,
              [DEAD_LETTER.group]: this.#group,
              [DEAD_LETTER.reason]: reason,
              [DEAD_LETTER.error]: describe(error),
              [DEAD_LETTER.topic]: record.topic,
              [DEAD_LETTER.partition]: String(record.partition),
              [DEAD_LETTER.offset]: String(record.offset),
              [DEAD_LETTER.time]: new Date().toISOString(),
            },
          },
        ],
      })
    } catch (failure) {
      await this.close()
      throw failure
    }
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer()
    await producer.connect()
    return producer
  }
}

/** Name and message, without the stack. It may quote content, so it is stored in the dead letter and never logged. */
function describe(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return text.slice(0, 1_000)
}
