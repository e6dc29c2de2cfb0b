import type { TopicDefinition } from '@restante/contracts/events'
import { pause, Semaphore, within } from '@restante/service/concurrency'
import type { Batch, Consumer as KafkaConsumer } from 'kafkajs'
import type { Kafka } from '../../kafka/kafka.ts'
import { type ConsumedRecord, toRecord } from '../../kafka/record.ts'
import type { BatchProcessor } from '../../processing/batch-processor.ts'
import type { Processor } from '../../processing/processor.ts'
import { LONG_READING, withReader } from '../../records/reader.ts'
import type { Assignment } from './assignment.ts'
import { Partition } from './partition.ts'
import { LATE_MS, Work } from './work.ts'

export interface HeadsOptions {
  readonly kafka: Kafka
  /** The group that works on the same records in their order. */
  readonly group: string
  readonly topics: readonly TopicDefinition[]
  readonly processor: BatchProcessor
}

/** One partition, read from shortly before where it ended when it was found late. */
interface Head {
  /** As the brokers name it. */
  readonly topic: string
  readonly id: number
  readonly begin: number
  /** Where it ended, and when. */
  end: number
  since: number
  readonly work: Work
  readonly partition: Partition
}

const LOOK_EVERY_MS = 500
/**
 * How long after its start a consumer is prepared to read ahead: one that was stopped for long must, and fresh events would wait until
 * it has joined a group for that.
 */
const PREPARED_MS = 15_000
/** By then it has fetched from all of its partitions, and knows whether one is late. */
const FETCHED_MS = 2_000
/** How long a fetch waits for records, and the longest delay before a partition that was resumed is fetched. */
const FETCH_WAIT_MS = 100
/** How long late records are held up while a reading ahead begins, and while one has records that are not finished. */
const HELD_UP = { beginningMs: 2_000, busyMs: 300, lookEveryMs: 5 }
/** A partition whose oldest record is younger than that has caught up; less than what makes it late, so that it does not toggle. */
const IN_TIME_MS = 1_000
/** Between a session with the brokers that failed and the next one. */
const RESTART_MS = 5_000
/** Batches that are handled at the same time, beside those of the group's consumer. */
const SLOTS = 2
const LIMITS = { records: 500, bytes: 4 * 1024 * 1024 }
/** What is read of the time before a reading ahead began: what was fresh when a process started, or when the owner changed. */
const BEFORE = { records: 200, ms: 60_000 }

/**
 * Reads the newest records of late partitions, beside the group's consumer that works through them in order. It has no part
 * in that: it commits no offsets, and what it has handled is marked, so that the group's consumer skips it later. What it has
 * not handled, for whatever reason, the group's consumer handles.
 *
 * A partition is read from shortly before where it ended when it was found late, until the group's consumer is near its end
 * again, or the partition has another owner.
 */
export class Heads {
  readonly #options: HeadsOptions
  readonly #processor: Processor
  readonly #slots = new Semaphore(SLOTS)
  readonly #heads = new Map<string, Head>()
  /** The client, once it may pause and resume. */
  #joined: KafkaConsumer | undefined
  #ending: AbortController | undefined
  #session: Promise<void> = Promise.resolve()
  #restartAt = 0
  #preparedUntil = 0
  #isStopped = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: HeadsOptions) {
    this.#options = options
    this.#processor = ahead(options.processor)
  }

  /** Begins to look after what the group has assigned; in a rebalance everything stays as it is. */
  start(assignment: () => Assignment | undefined): void {
    this.#preparedUntil = Date.now() + PREPARED_MS
    this.#timer = setInterval(() => this.look(assignment()), LOOK_EVERY_MS)
    this.look(undefined)
  }

  /**
   * Called before late records are handled in their order. Resolves when those that overtake them have been read and
   * handled. There may always be more of them, and the brokers may not answer: it does not wait for long.
   */
  async clear(signal: AbortSignal): Promise<void> {
    const heldSince = Date.now()
    do await pause(HELD_UP.lookEveryMs, signal)
    while (!signal.aborted && [...this.#heads.values()].some((head) => isHeldUpBy(head, heldSince)))
  }

  /** Starts nothing more, and waits up to `ms` each for what is in progress and for the brokers. */
  async stop(ms: number): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopped = true
    const drained = Promise.all([...this.#heads.values()].map((head) => this.#leave(head)))
    await within(ms, drained, () => [])
    this.#ending?.abort()
    // Without brokers it takes long to end; a group without members and offsets is then forgotten by itself.
    await within(ms, this.#session, () => undefined)
  }

  /** Begins and ends readings ahead; called when something was fetched, too. */
  look(assignment: Assignment | undefined): void {
    if (this.#isStopped) return
    if (assignment) this.#follow(assignment)
    const isWanted = this.#heads.size > 0 || Date.now() < this.#preparedUntil
    if (!isWanted) this.#ending?.abort()
    else if (!this.#ending && Date.now() >= this.#restartAt) this.#session = this.#run()
  }

  #follow(assignment: Assignment): void {
    for (const head of this.#heads.values()) if (!assignment.owns(head.topic, head.id)) void this.#leave(head)
    if (assignment.fetched.length > 0) this.#preparedUntil = Math.min(this.#preparedUntil, Date.now() + FETCHED_MS)
    for (const { topic, id, partition } of assignment.fetched) {
      const head = this.#heads.get(nameOf(topic, id))
      if (head && hasCaughtUp(partition, head)) void this.#leave(head)
      if (!head && isLate(partition)) this.#enter(topic, id, partition)
    }
  }

  #enter(topic: string, id: number, { committable = 0, end }: Partition): void {
    const name = nameOf(topic, id)
    // The batch that the group's consumer handles next is left to it.
    const begin = shortlyBefore(end, committable + this.#processor.batchSize)
    const work = new Work({
      processor: this.#processor,
      slots: this.#slots,
      onDefect: (err) => {
        this.#options.kafka.log.error({ group: this.#options.group, err }, 'unexpected error in reading ahead')
        void this.#leave(head)
      },
    })
    const partition = new Partition({
      name,
      work,
      limits: LIMITS,
      setPaused: (paused) => this.#setPaused(head, paused),
      onProgress: () => {},
    })
    const head = { topic, id, begin, end, since: Date.now(), work, partition }
    this.#heads.set(name, head)
    this.#options.kafka.log.info({ group: this.#options.group, topic, partition: id, begin }, 'reading ahead')
    if (this.#joined) this.#seek(this.#joined, head)
  }

  async #leave(head: Head): Promise<void> {
    this.#setPaused(head, true)
    this.#heads.delete(nameOf(head.topic, head.id))
    await head.work.end()
  }

  /** One session with the brokers. */
  async #run(): Promise<void> {
    const { kafka, group } = this.#options
    const ending = new AbortController()
    this.#ending = ending
    await withReader(kafka, { ...LONG_READING, maxWaitTimeInMs: FETCH_WAIT_MS }, async (client) => {
      try {
        const ended = this.#keepJoined(client, ending.signal)
        const opened = this.#open(client, ending.signal).then(() => ended)
        opened.catch(() => {}) // It may reject after the race below was won by the end.
        await Promise.race([opened, ended])
      } catch (err) {
        this.#restartAt = Date.now() + RESTART_MS
        kafka.log.warn({ group, err }, 'reading ahead was interrupted')
      }
      ending.abort()
      this.#joined = undefined
    })
    this.#ending = undefined
  }

  /** Resolves at the end, rejects when the session fails. */
  #keepJoined(client: KafkaConsumer, ending: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      ending.addEventListener('abort', () => resolve(), { once: true })
      client.on(client.events.CRASH, ({ payload }) => reject(payload.error))
      // Again after each join: a new generation would begin at the end of the topics.
      client.on(client.events.GROUP_JOIN, ({ payload }) => {
        if (ending.aborted) return
        this.#joined = client
        for (const [topic, partitions] of Object.entries(payload.memberAssignment))
          client.pause([{ topic, partitions }])
        for (const head of this.#heads.values()) this.#seek(client, head)
      })
    })
  }

  async #open(client: KafkaConsumer, ending: AbortSignal): Promise<void> {
    // The end disconnects the client at once; nothing may connect it again after that.
    const { kafka, topics } = this.#options
    await client.connect()
    ending.throwIfAborted()
    await client.subscribe({ topics: topics.map(({ name }) => kafka.physical(name)), fromBeginning: false })
    ending.throwIfAborted()
    await client.run({ autoCommit: false, eachBatch: async ({ batch }) => this.#take(batch) })
  }

  #seek(client: KafkaConsumer, { topic, id, begin, partition }: Head): void {
    client.seek({ topic, partition: id, offset: String(partition.next ?? begin) })
    if (!partition.paused) client.resume([{ topic, partitions: [id] }])
  }

  #setPaused(head: Head, paused: boolean): void {
    const { topic, id } = head
    if (this.#heads.get(nameOf(topic, id)) !== head) return
    if (paused) this.#joined?.pause([{ topic, partitions: [id] }])
    else this.#joined?.resume([{ topic, partitions: [id] }])
  }

  #take(batch: Batch): void {
    const head = this.#heads.get(nameOf(batch.topic, batch.partition))
    if (!head) return
    const topic = this.#options.kafka.logical(batch.topic) ?? batch.topic
    const from = head.partition.next ?? head.begin
    const records = batch.messages.map((message) => toRecord(topic, batch.partition, message))
    const fresh = records.filter((record) => record.offset >= from && isRecent(record, head))
    const [last, end] = [Number(batch.lastOffset()), Number(batch.highWatermark)]
    if (last < from) return
    // Those for others are counted by the group's consumer.
    head.partition.take(fresh, { last, end }, () => {})
    if (isLate(head.partition) && end - last > LIMITS.records) this.#skip(head, last + 1, end)
  }

  /** A reading ahead that has a backlog of its own leaves that too to the group's consumer, and begins again. */
  #skip(head: Head, from: number, end: number): void {
    const { group, kafka } = this.#options
    const { topic, id, partition } = head
    const begin = shortlyBefore(end, from)
    kafka.log.info({ group, topic, partition: id, from, begin }, 'reading ahead is late itself, and begins again')
    head.end = end
    head.since = Date.now()
    partition.take([], { last: begin - 1, end }, () => {})
    if (this.#joined) this.#seek(this.#joined, head)
  }
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

function shortlyBefore(end: number, earliest: number): number {
  return Math.min(end, Math.max(earliest, end - BEFORE.records))
}

function isRecent({ offset, timestamp }: ConsumedRecord, { end, since }: Head): boolean {
  return offset >= end || since - timestamp < BEFORE.ms
}

/** Whether late records wait for it: until what was there when it began has been read, and while it holds some. */
function isHeldUpBy({ partition, begin, end, since }: Head, heldSince: number): boolean {
  const now = Date.now()
  if ((partition.next ?? begin) < end) return now < Math.min(since, heldSince) + HELD_UP.beginningMs
  return partition.oldest !== undefined && now < heldSince + HELD_UP.busyMs
}

function isLate({ oldest }: Partition): boolean {
  return oldest !== undefined && Date.now() - oldest > LATE_MS
}

/** Between two fetches a late partition may hold nothing that is unfinished. */
function hasCaughtUp({ oldest, lag, committable }: Partition, head: Head): boolean {
  if (lag === 0 || (oldest !== undefined && Date.now() - oldest < IN_TIME_MS)) return true
  return (committable ?? 0) >= (head.partition.next ?? head.begin)
}

function ahead(processor: BatchProcessor): Processor {
  return {
    batchSize: processor.batchSize,
    queuePerKey: processor.queuePerKey,
    accepts: (record) => processor.accepts(record),
    process: (records, partitions) => processor.processAhead(records, partitions),
  }
}
