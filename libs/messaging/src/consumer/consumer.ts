import type { TopicDefinition } from '@restante/contracts/events'
import { jitteredBackoff, pause, Semaphore } from '@restante/service/concurrency'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import type { Consumer as KafkaConsumer } from 'kafkajs'
import { consumerGroup, DeadLetters } from '../dead-letters/dead-letters.ts'
import { FETCH_BYTES, type Kafka } from '../kafka/kafka.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { reportConsumer } from '../kafka/telemetry.ts'
import { BatchProcessor } from '../processing/batch-processor.ts'
import { EventProcessor } from '../processing/event-processor.ts'
import type { Processor } from '../processing/processor.ts'
import { Reporter } from '../processing/report.ts'
import { ensureDeadLetters } from '../topics/topics.ts'
import type { CommonOptions, ConsumerOptions } from './options.ts'
import { Assignment, type AssignmentOptions } from './partitions/assignment.ts'
import { Heads } from './partitions/heads.ts'
import type { GiveWay } from './partitions/work.ts'

/**
 * How long a fetch waits for new records; arriving records end the wait, so it does not delay them. It is the longest
 * delay before a resumed partition is fetched again, and the poll interval of an idle consumer.
 */
const FETCH_WAIT_MS = 500
/** A consumer whose loop has not turned for this long is not alive, whatever the state of its connections. */
const STALLED_MS = 30_000
const SESSION_TIMEOUT_MS = 10_000
/** Waits between a session that failed and the next one. */
const RESTART = { firstMs: 200, longestMs: 2_000 }
const EVENTS_AT_ONCE = 8
/** Few, so that batches grow with the load: records that arrive while both are in progress share the next one. */
const BATCHES_AT_ONCE = 2
const IN_FLIGHT_BYTES = 16 * 1024 * 1024

/** One session with the group, from joining until it ends or fails. */
interface Session {
  readonly client: KafkaConsumer
  readonly end: () => void
  readonly fail: (error: Error) => void
}

/**
 * The consumer of one service on one topic, or on several that it handles alike. It consumes as the group
 * `<service>.<topic>`, or `<service>.<name>` of several topics, has each handler's effect happen exactly once, and keeps
 * failing events from blocking the others.
 *
 * How records flow:
 * 1. The kafkajs loop fetches a batch and hands it to the `Assignment`, which distributes it to `Partition`s.
 * 2. A `Partition` holds the records until they are finished, and pauses fetching when it holds too much.
 * 3. `Work` has a queue for each key or partition, and takes batches from them, bounded by a `Semaphore`; a `Processor` runs the
 * handler and its mark in one transaction, and `tryWork` retries or dead-letters what fails.
 * 4. The lowest unfinished offset of each partition is committed, shortly after it has moved.
 * 5. On a rebalance the assignment drains, so that work in progress ends under its old owner.
 */
export class Consumer<T extends TopicDefinition> implements Component {
  readonly name: string
  readonly stage = 'work'
  readonly group: string
  /** The topics that it takes events from. */
  readonly topics: readonly T[]
  readonly #options: CommonOptions
  readonly #kafka: Kafka
  readonly #log: Logger
  readonly #processor: Processor
  readonly #reporter: Reporter
  readonly #deadLetters: DeadLetters
  readonly #slots: Semaphore
  readonly #giveWay: GiveWay | undefined
  readonly #heads: Heads | undefined
  readonly #stop = new AbortController()
  #session: Session | undefined
  /** Member id of this consumer in its group, current or last. */
  #memberId: string | undefined
  #assignment: Assignment | undefined
  #running: Promise<void> = Promise.resolve()
  #tickedAt: number | undefined
  #leaveMetrics: () => void = () => {}

  constructor(options: ConsumerOptions<T>) {
    const { kafka, service } = options
    this.topics = 'topic' in options ? [options.topic] : options.topics
    this.group = consumerGroup(service, 'topic' in options ? options.topic.name : options.name)
    this.name = `consumer ${this.group}`
    this.#options = options
    this.#kafka = kafka
    this.#log = kafka.log
    this.#slots = new Semaphore(options.concurrency ?? ('batch' in options ? BATCHES_AT_ONCE : EVENTS_AT_ONCE))
    this.#deadLetters = new DeadLetters({ kafka, group: this.group })
    this.#reporter = new Reporter({ group: this.group, log: this.#log })
    const shared = {
      topics: this.topics,
      db: options.db,
      deadLetters: this.#deadLetters,
      reporter: this.#reporter,
      policy: {
        log: this.#log,
        group: this.group,
        attempts: options.attempts ?? 5,
        deterministic: { firstMs: 100, longestMs: 1_000 },
        infrastructure: options.infrastructureBackoff ?? { firstMs: 400, longestMs: 3_000 },
      },
    }
    if ('batch' in options) {
      this.#processor = new BatchProcessor(shared, options.batch)
      if (options.overtaking) {
        const reporter = new Reporter({ group: this.group, log: this.#log, isAhead: true })
        const processor = new BatchProcessor({ ...shared, reporter }, options.batch)
        const heads = new Heads({ kafka, group: this.group, topics: this.topics, processor })
        const { giveWay } = options.overtaking
        this.#giveWay = async (signal) => {
          await heads.clear(signal)
          return giveWay(signal)
        }
        this.#heads = heads
      }
      return
    }
    this.#processor = new EventProcessor(shared, options.handlers)
  }

  /**
   * Starts joining the group; `working` reports when it has joined. Brokers that are not available yet are waited for.
   */
  async start(): Promise<void> {
    this.#leaveMetrics = reportConsumer({
      group: this.group,
      lagSeconds: () => {
        const oldest = this.#assignment?.oldest
        return oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1_000
      },
      lagRecords: () => this.#lagRecords(),
      pausedPartitions: () => this.#assignment?.pausedPartitions ?? 0,
      joined: () => this.#assignment !== undefined,
    })
    this.#running = this.#supervise()
    this.#heads?.start(() => this.#assignment)
  }

  /** Rejects until the group is joined, and when the loop has not turned for 30 s. */
  async working(): Promise<void> {
    if (this.#tickedAt === undefined || !this.#assignment) throw new Error(`${this.group} has not joined its group`)
    const age = Date.now() - this.#tickedAt
    if (age > STALLED_MS) throw new Error(`${this.group} has not fetched for ${Math.round(age / 1_000)} s`)
  }

  /** Finishes work in progress, commits it, and leaves the group. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all([this.#assignment?.end(this.#drainMs), this.#heads?.stop(this.#drainMs)])
    this.#session?.end()
    await this.#running
    await this.#deadLetters.close()
    this.#leaveMetrics()
  }

  /** Whether a record is for this consumer. */
  accepts(record: ConsumedRecord): boolean {
    return this.#processor.accepts(record)
  }

  /**
   * Handles records as if they had just been fetched together: an event that was missed (`missedEventsCheck`), and those of tests of
   * handlers (`deliverTwiceAndSwapped`). It does not need `start`, and one with a mark has no effect.
   */
  async deliver(...records: readonly ConsumedRecord[]): Promise<void> {
    const accepted = records.filter((record) => this.#processor.accepts(record))
    for (let skipped = accepted.length; skipped < records.length; skipped++) this.#reporter.skipped()
    if (accepted.length === 0) return
    await this.#processor.process(accepted, { signal: this.#stop.signal, pause: () => () => {} })
  }

  /** Topics of which nothing was fetched yet have 0. */
  #lagRecords(): ReadonlyMap<string, number> {
    const none = this.topics.map(({ name }) => [name, 0] as const)
    return new Map([...none, ...(this.#assignment?.lag ?? [])])
  }

  get #drainMs(): number {
    return this.#options.drainMs ?? (this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS) / 3
  }

  /** kafkajs gives up on some failures and restarts after others; here every end of a session leads to a new one. */
  async #supervise(): Promise<void> {
    for (let failures = 0; !this.#stop.signal.aborted; failures++) {
      const startedAt = Date.now()
      try {
        await this.#run()
      } catch (error) {
        if (Date.now() - startedAt > 60_000) failures = 0
        this.#log.warn({ group: this.group, failures, err: error }, 'consumer session failed, restarting')
      }
      this.#assignment?.abandon()
      this.#assignment = undefined
      await pause(jitteredBackoff(failures + 1, RESTART), this.#stop.signal)
    }
  }

  /** One session with the brokers: resolves after `stop`, rejects when the session has failed. */
  async #run(): Promise<void> {
    const client = this.#kafka.consumer({
      groupId: this.#kafka.physical(this.group),
      sessionTimeout: this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
      rebalanceTimeout: 60_000,
      heartbeatInterval: this.#options.heartbeatMs ?? 2_000,
      ...fetchingOf(this.#options.gatherMs ?? 0),
      retry: { retries: 5, initialRetryTime: 100, maxRetryTime: 2_000, restartOnFailure: async () => false },
      // As a new member it would have to wait until the group has timed out its previous membership.
      ...(this.#memberId !== undefined && { memberId: this.#memberId }),
    })
    const broken = this.#follow(client)
    const session = this.#open(client).then(() => broken)
    session.catch(() => {}) // It may reject after the race below was won by the stop.
    try {
      // Joining waits for the other members, dead ones included. A stop does not wait for it: `broken` ends then.
      await Promise.race([session, broken])
    } finally {
      this.#session = undefined
      await client.disconnect().catch(() => {})
    }
  }

  async #open(client: KafkaConsumer): Promise<void> {
    // A stop disconnects the client at once; nothing may connect it again after that.
    const { signal } = this.#stop
    await ensureDeadLetters(this.#kafka, this.group)
    signal.throwIfAborted()
    await client.connect()
    const topics = this.topics.map(({ name }) => this.#kafka.physical(name))
    await client.subscribe({ topics, fromBeginning: true })
    signal.throwIfAborted()
    await client.run({
      autoCommit: false,
      eachBatch: async (payload) => {
        this.#tick()
        this.#assignment?.dispatch(payload)
        this.#heads?.look(this.#assignment)
      },
    })
  }

  /** Keeps the assignment up to date with the group. Resolves on stop, rejects when the session fails. */
  #follow(client: KafkaConsumer): Promise<void> {
    return new Promise((resolve, reject) => {
      const { GROUP_JOIN, REBALANCING, CRASH, FETCH } = client.events
      this.#session = { client, end: resolve, fail: reject }
      client.on(FETCH, () => this.#tick())
      client.on(REBALANCING, ({ payload }) => {
        const revoked = this.#assignment
        // The group waits for its members to rejoin, so that work in progress can end under its old owner.
        if (revoked) payload.waitUntil(revoked.end(this.#drainMs))
      })
      client.on(GROUP_JOIN, ({ payload }) => {
        this.#assignment?.abandon()
        this.#memberId = payload.memberId
        if (this.#stop.signal.aborted) return
        this.#assignment = this.#assigned(client, payload.memberAssignment)
        this.#tick()
        this.#log.info({ group: this.group, partitions: payload.memberAssignment }, 'joined')
      })
      client.on(CRASH, ({ payload }) => reject(payload.error))
    })
  }

  #assigned(client: KafkaConsumer, assigned: AssignmentOptions['assigned']): Assignment {
    return new Assignment({
      assigned,
      giveWay: this.#giveWay,
      processor: this.#processor,
      limits: { records: this.#options.inFlight ?? 1_000, bytes: IN_FLIGHT_BYTES },
      slots: this.#slots,
      log: this.#log,
      onSkipped: () => this.#reporter.skipped(),
      nameOf: (topic) => this.#kafka.logical(topic) ?? topic,
      setPaused: (topic, partition, paused) => {
        if (this.#session?.client !== client) return
        if (paused) client.pause([{ topic, partitions: [partition] }])
        else client.resume([{ topic, partitions: [partition] }])
      },
      onDefect: (error) => {
        this.#log.error({ group: this.group, err: error }, 'unexpected consumer error, restarting the session')
        this.#session?.fail(new Error('an unexpected error ended the session'))
      },
    })
  }

  #tick(): void {
    this.#tickedAt = Date.now()
  }
}

function fetchingOf(gatherMs: number) {
  return gatherMs > 0
    ? { minBytes: FETCH_BYTES / 2, maxWaitTimeInMs: gatherMs } // One partition with a backlog ends it early.
    : { minBytes: 1, maxWaitTimeInMs: FETCH_WAIT_MS }
}
