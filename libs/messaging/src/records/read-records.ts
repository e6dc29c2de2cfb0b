import { within } from '@restante/service/concurrency'
import { UpstreamError } from '@restante/service/errors'
import type { Consumer, EachBatchPayload } from 'kafkajs'
import type { Kafka } from '../kafka/kafka.ts'
import type { RecordPosition } from '../kafka/position.ts'
import { type ConsumedRecord, toRecord } from '../kafka/record.ts'
import { withReader } from './reader.ts'

/** When a reading ends before the end of its range; whatever is reached first. */
export interface ReadLimits {
  readonly records: number
  /** Bytes of values. One batch of the broker, 1 MB at most, may exceed it. */
  readonly bytes: number
  readonly ms: number
}

export interface ReadRecords {
  readonly records: readonly ConsumedRecord[]
  /** The offset after the last record that was read. */
  readonly next: number
}

const FETCH_WAIT_MS = 100

/**
 * Reads one partition from a position to an offset, without a consumer group's committed offsets: nothing that other
 * consumers do is affected. It is for readings on request: each joins a group of its own for its duration.
 * @param until the offset to stop before; it must not be above the end of the partition.
 * @throws UpstreamError when Kafka has not answered in time and nothing was read.
 */
export async function readRecords(
  kafka: Kafka,
  from: RecordPosition,
  until: number,
  limits: ReadLimits,
): Promise<ReadRecords> {
  if (from.offset >= until) return { records: [], next: from.offset }
  const reading = new Reading(from, until, limits)
  await withReader(kafka, { maxWaitTimeInMs: FETCH_WAIT_MS }, async (consumer) => {
    const ended = Promise.race([reading.ended, follow(kafka, consumer, reading)])
    await within(limits.ms, ended, () => {})
  })
  if (reading.next === from.offset)
    throw new UpstreamError(`Kafka did not return ${from.topic}/${from.partition} in time`)
  return { records: reading.records, next: reading.next }
}

/** Never resolves: the reading ends by what it has read. Rejects when the session with the brokers fails. */
async function follow(kafka: Kafka, consumer: Consumer, reading: Reading): Promise<never> {
  const topic = kafka.physical(reading.from.topic)
  const crashed = new Promise<never>((_resolve, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
  })
  crashed.catch(() => {}) // It may reject when the reading has ended.
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: false })
  await consumer.run({ autoCommit: false, eachBatch: async (payload) => reading.take(payload) })
  consumer.seek({ topic, partition: reading.from.partition, offset: String(reading.from.offset) })
  return crashed
}

/** What has been read of a range. */
class Reading {
  readonly records: ConsumedRecord[] = []
  readonly ended: Promise<void>
  readonly from: RecordPosition
  next: number
  readonly #until: number
  readonly #limits: ReadLimits
  readonly #end: () => void
  #bytes = 0
  #hasEnded = false

  constructor(from: RecordPosition, until: number, limits: ReadLimits) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#end = resolve
    this.from = from
    this.next = from.offset
    this.#until = until
    this.#limits = limits
  }

  /** The group is assigned every partition of the topic, and may fetch before it has sought: other batches are ignored. */
  take({ batch }: EachBatchPayload): void {
    if (this.#hasEnded || batch.partition !== this.from.partition) return
    for (const message of batch.messages) {
      const offset = Number(message.offset)
      if (offset < this.next) continue
      if (offset >= this.#until || this.#isFull()) break
      this.records.push(toRecord(this.from.topic, batch.partition, message))
      this.#bytes += message.value?.length ?? 0
      this.next = offset + 1
    }
    const isAtEnd = Number(batch.lastOffset()) + 1 >= this.#until
    // Offsets of a partition may have gaps.
    if (isAtEnd && !this.#isFull()) this.next = this.#until
    if (isAtEnd || this.#isFull()) this.#finish()
  }

  #isFull(): boolean {
    return this.records.length >= this.#limits.records || this.#bytes >= this.#limits.bytes
  }

  #finish(): void {
    this.#hasEnded = true
    this.#end()
  }
}
