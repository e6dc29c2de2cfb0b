import kafkajs, { type Consumer, type EachBatchPayload } from 'kafkajs'
import type { Kafka } from '../kafka/kafka.ts'
import { type ConsumedRecord, toRecord } from '../kafka/record.ts'
import { boundsOf, type RecordRange } from './read-events.ts'
import { LONG_READING, withReader } from './reader.ts'

/** Consecutive records of a range. */
export interface RangeRecords {
  readonly range: RecordRange
  readonly records: readonly ConsumedRecord[]
  /** The offset after them: `range.until` at the end of the range. */
  readonly next: number
  /** Records of the range that were written before this time at the latest were deleted before they were read. */
  readonly lostBefore: Date | undefined
}

interface ReadRangesOptions {
  /** Handles records. Those of one partition are given in order; the next ones follow when it has resolved. */
  readonly take: (taken: RangeRecords) => Promise<void>
  /** Most records that are given at once. */
  readonly together: number
  readonly stopping: AbortSignal
}

/** Partitions whose records are handled at the same time. */
const CONCURRENT = 4

/**
 * Reads ranges of many partitions to their ends. As `readRecords`, it affects no consumer group: the caller keeps how far
 * it has come, and gives ranges that begin there when it reads on.
 * @returns when all ranges are read, or the process stops.
 * @throws what `take` throws, and errors of Kafka; nothing is taken after that.
 */
export async function readRanges(kafka: Kafka, ranges: readonly RecordRange[], options: ReadRangesOptions) {
  const open = new Map(ranges.filter((it) => it.offset < it.until).map((it) => [nameOf(it.topic, it.partition), it]))
  // A partition that holds nothing gives the reading nothing to end with.
  for (const range of await emptied(kafka, [...open.values()])) {
    if (options.stopping.aborted) return
    await options.take({ range, records: [], next: range.until, lostBefore: new Date() })
    open.delete(nameOf(range.topic, range.partition))
  }
  if (open.size === 0 || options.stopping.aborted) return
  await withReader(kafka, LONG_READING, async (consumer) => {
    const reading = new RangeReading(kafka, consumer, open, options)
    await Promise.race([reading.ended, reading.start()])
    await reading.ended
  })
}

/** Those of the ranges whose partitions hold no records any more. */
function emptied(kafka: Kafka, ranges: readonly RecordRange[]): Promise<RecordRange[]> {
  return kafka.administrate(async (admin) => {
    const found: RecordRange[] = []
    for (const [topic, of] of Map.groupBy(ranges, (range) => range.topic)) {
      const bounds = await boundsOf(kafka, admin, topic)
      found.push(
        ...of.filter(({ partition }) => {
          const { low, high } = bounds.get(partition) ?? { low: 0, high: 0 }
          return low === high
        }),
      )
    }
    return found
  })
}

class RangeReading {
  readonly ended: Promise<void>
  readonly #kafka: Kafka
  readonly #consumer: Consumer
  /** What is left of the ranges. */
  readonly #open: Map<string, RecordRange>
  readonly #options: ReadRangesOptions
  readonly #end: () => void
  readonly #fail: (error: unknown) => void
  #hasEnded = false

  constructor(kafka: Kafka, consumer: Consumer, open: Map<string, RecordRange>, options: ReadRangesOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    promise.catch(() => {}) // It may reject while the consumer is still starting.
    this.ended = promise
    this.#kafka = kafka
    this.#consumer = consumer
    this.#open = open
    this.#options = options
    this.#end = () => {
      this.#hasEnded = true
      resolve()
    }
    this.#fail = (error) => {
      this.#hasEnded = true
      reject(error)
    }
    options.stopping.addEventListener('abort', this.#end, { once: true })
    consumer.on(consumer.events.CRASH, ({ payload }) => this.#fail(payload.error))
  }

  async start(): Promise<void> {
    const ranges = [...this.#open.values()]
    await this.#consumer.connect()
    // Where retention has passed a range, the reading continues at the beginning of what there is, and reports the loss.
    const topics = [...new Set(ranges.map(({ topic }) => this.#kafka.physical(topic)))]
    await this.#consumer.subscribe({ topics, fromBeginning: true })
    await this.#consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: CONCURRENT,
      eachBatch: (payload) => this.#handle(payload).catch(this.#fail),
    })
    for (const { topic, partition, offset } of ranges)
      this.#consumer.seek({ topic: this.#kafka.physical(topic), partition, offset: String(offset) })
  }

  async #handle({ batch, heartbeat }: EachBatchPayload): Promise<void> {
    const topic = this.#kafka.logical(batch.topic) ?? batch.topic
    const name = nameOf(topic, batch.partition)
    let rest = batch.messages.map((message) => toRecord(topic, batch.partition, message))
    while (!this.#hasEnded) {
      const range = this.#open.get(name)
      if (range === undefined) return this.#consumer.pause([{ topic: batch.topic, partitions: [batch.partition] }])
      rest = rest.filter(({ offset }) => offset >= range.offset)
      const [first] = rest
      if (first === undefined) return
      const records = rest.slice(0, this.#options.together).filter(({ offset }) => offset < range.until)
      const next = Math.min(range.until, (records.at(-1)?.offset ?? first.offset) + 1)
      await this.#options.take({
        range,
        records,
        next,
        lostBefore: first.offset > range.offset ? new Date(first.timestamp) : undefined,
      })
      if (next < range.until) this.#open.set(name, { ...range, offset: next })
      else this.#open.delete(name)
      if (this.#open.size === 0) this.#end()
      await heartbeatOf(heartbeat)
    }
  }
}

/** A heartbeat finds out that the group rebalances: the session then goes on by itself. */
async function heartbeatOf(heartbeat: () => Promise<void>): Promise<void> {
  await heartbeat().catch((error: unknown) => {
    if (!(error instanceof kafkajs.KafkaJSError)) throw error
  })
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}
