import { jitteredBackoff } from '@restante/service/concurrency'
import { messageOf } from '@restante/service/errors'
import type { Logger } from '@restante/service/telemetry'
import kafkajs, { type Producer } from 'kafkajs'
import type { Kafka } from '../kafka/kafka.ts'
import { isRefusal, isTopicFault } from './refusal.ts'
import type { OutboxRow } from './statements.ts'

export interface Refusal {
  readonly row: OutboxRow
  readonly reason: string
}

/** How long a topic is paused after a failure. */
const RETRY = { firstMs: 500, longestMs: 3_000 }

/** Outcome of a batch; rows that are in neither list are still to be published. */
export interface Result {
  readonly published: readonly OutboxRow[]
  readonly refused: readonly Refusal[]
}

interface Hold {
  readonly until: number
  readonly failures: number
}

/** Smaller requests are sent as they are: compression would delay a single event and save next to nothing. */
const COMPRESSED_CHARACTERS = 32 * 1024

function isWorthCompressing(rows: readonly OutboxRow[]): boolean {
  return rows.reduce((sum, { payload }) => sum + payload.length, 0) >= COMPRESSED_CHARACTERS
}

/**
 * Writes batches of outbox rows to Kafka, in order, and keeps failures from blocking the rest: a topic in trouble
 * (missing, without leader) is paused alone and retried; a record that Kafka rejects for good is found by sending its
 * topic's rows one by one, and is returned as refused.
 */
export class Publisher {
  readonly #kafka: Kafka
  readonly #log: Logger
  readonly #holds = new Map<string, Hold>()
  #producer: Producer | undefined

  constructor(kafka: Kafka) {
    this.#kafka = kafka
    this.#log = kafka.log
  }

  /** Topics that are paused after a failure. */
  pausedTopics(): string[] {
    const now = Date.now()
    return [...this.#holds].filter(([, hold]) => hold.until > now).map(([topic]) => topic)
  }

  /** @throws when no broker answers; nothing is known to be published then. */
  async publish(rows: readonly OutboxRow[]): Promise<Result> {
    try {
      await this.#send(rows)
      for (const row of rows) this.#holds.delete(row.topic)
      return { published: rows, refused: [] }
    } catch (error) {
      if (!isTopicFault(error)) throw error
    }
    const results: Result[] = []
    for (const topic of new Set(rows.map((row) => row.topic))) {
      results.push(
        await this.#publishTopic(
          topic,
          rows.filter((row) => row.topic === topic),
        ),
      )
    }
    return {
      published: results.flatMap((result) => result.published),
      refused: results.flatMap((result) => result.refused),
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer
    this.#producer = undefined
    await producer?.disconnect().catch(() => {})
  }

  /** One topic alone: together if that works, otherwise record by record, which finds the rejected ones. */
  async #publishTopic(topic: string, rows: readonly OutboxRow[]): Promise<Result> {
    const whole = await this.#try(topic, rows)
    if (whole === 'published') return { published: rows, refused: [] }
    if (whole === 'held') return { published: [], refused: [] }
    const published: OutboxRow[] = []
    const refused: Refusal[] = []
    for (const row of rows) {
      const outcome = await this.#try(topic, [row])
      if (outcome === 'held') break
      if (outcome === 'published') published.push(row)
      else refused.push({ row, reason: outcome.refusal })
    }
    return { published, refused }
  }

  async #try(topic: string, rows: readonly OutboxRow[]): Promise<'published' | 'held' | { readonly refusal: string }> {
    try {
      await this.#send(rows)
      this.#holds.delete(topic)
      return 'published'
    } catch (error) {
      if (!isTopicFault(error)) throw error
      if (isRefusal(error)) return { refusal: messageOf(error) }
      this.#pauseTopic(topic, error)
      return 'held'
    }
  }

  async #send(rows: readonly OutboxRow[]): Promise<void> {
    const producer = await this.#connected()
    try {
      await producer.sendBatch({
        acks: -1,
        compression: isWorthCompressing(rows) ? kafkajs.CompressionTypes.GZIP : kafkajs.CompressionTypes.None,
        topicMessages: this.#messages(rows),
      })
    } catch (error) {
      // After a failure it is unknown which sequence numbers the brokers have seen. A new producer starts a new
      // sequence; at worst a record is published twice, which every consumer recognises by its mark.
      await this.close()
      throw error
    }
  }

  #messages(rows: readonly OutboxRow[]) {
    const topics = new Map<string, { key: string; value: string; headers: Record<string, string> }[]>()
    for (const row of rows) {
      const messages = topics.get(row.topic) ?? []
      topics.set(row.topic, messages)
      messages.push({ key: row.key, value: row.payload, headers: { ...row.headers } })
    }
    return [...topics].map(([topic, messages]) => ({ topic: this.#kafka.physical(topic), messages }))
  }

  async #connected(): Promise<Producer> {
    if (this.#producer) return this.#producer
    const producer = this.#kafka.producer()
    try {
      await producer.connect()
    } catch (error) {
      await producer.disconnect().catch(() => {})
      throw error
    }
    this.#producer = producer
    return producer
  }

  #pauseTopic(topic: string, error: unknown): void {
    const failures = (this.#holds.get(topic)?.failures ?? 0) + 1
    this.#holds.set(topic, { failures, until: Date.now() + jitteredBackoff(failures, RETRY) })
    this.#log.warn({ topic, failures, err: error }, 'publishing to topic failed, topic paused and retried')
  }
}
