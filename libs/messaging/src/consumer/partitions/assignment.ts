import { within } from '@restante/service/concurrency'
import type { Logger } from '@restante/service/telemetry'
import type { EachBatchPayload } from 'kafkajs'
import { toRecord } from '../../kafka/record.ts'
import { type Limits, Partition } from './partition.ts'
import { Work, type WorkOptions } from './work.ts'

export interface AssignmentOptions extends WorkOptions {
  /** Of each partition. */
  readonly limits: Limits
  readonly setPaused: (topic: string, partition: number, paused: boolean) => void
  /** Name of a topic without the installation's prefix. */
  readonly nameOf: (topic: string) => string
  readonly onSkipped: () => void
  readonly log: Logger
  /** Partitions that the group has assigned, by topic as the brokers name it. */
  readonly assigned: { readonly [topic: string]: readonly number[] }
}

/** How long finished work waits for more, so that their offsets are committed together. */
const COMMIT_DELAY_MS = 100

type Commit = EachBatchPayload['commitOffsetsIfNecessary']

/** One partition of one topic, and what was committed of it last. */
interface Owned {
  /** As the brokers name it. */
  readonly topic: string
  readonly id: number
  readonly partition: Partition
  committed: number | undefined
}

/**
 * The partitions that this consumer owns in one generation of its group. It commits their offsets only during that
 * generation: work that finishes later belongs to the next owner, which recognises it by its marks.
 */
export class Assignment {
  readonly #options: AssignmentOptions
  readonly #work: Work
  readonly #owned = new Map<string, Owned>()
  #state: 'active' | 'draining' | 'over' = 'active'
  #commit: Commit | undefined
  #timer: NodeJS.Timeout | undefined
  #committing: Promise<void> = Promise.resolve()
  #ending: Promise<void> | undefined

  constructor(options: AssignmentOptions) {
    this.#options = options
    this.#work = new Work(options)
  }

  get pausedPartitions(): number {
    return [...this.#owned.values()].filter(({ partition }) => partition.paused).length
  }

  /** The partitions of which something was fetched. */
  get fetched(): readonly Pick<Owned, 'topic' | 'id' | 'partition'>[] {
    return [...this.#owned.values()]
  }

  owns(topic: string, id: number): boolean {
    return this.#options.assigned[topic]?.includes(id) ?? false
  }

  /** How many records are written and not finished, by topic, as of the last fetch of each partition. */
  get lag(): ReadonlyMap<string, number> {
    const byTopic = new Map<string, number>()
    for (const { topic, partition } of this.#owned.values()) {
      const name = this.#options.nameOf(topic)
      byTopic.set(name, (byTopic.get(name) ?? 0) + partition.lag)
    }
    return byTopic
  }

  /** When the oldest unfinished record was written; `undefined` when there is none. */
  get oldest(): number | undefined {
    const times = [...this.#owned.values()]
      .map(({ partition }) => partition.oldest)
      .filter((time) => time !== undefined)
    return times.length > 0 ? Math.min(...times) : undefined
  }

  /** Adds the records to their queues and returns at once, so that the loop goes on fetching and sending heartbeats. */
  dispatch(payload: EachBatchPayload): void {
    if (this.#state !== 'active') return
    const { batch } = payload
    const topic = this.#options.nameOf(batch.topic)
    // This commit is tried once and for this generation only; `consumer.commitOffsets` would retry after a rebalance,
    // and then commit for partitions that have another owner.
    this.#commit = payload.commitOffsetsIfNecessary
    const records = batch.messages.map((message) => toRecord(topic, batch.partition, message))
    const to = { last: Number(batch.lastOffset()), end: Number(batch.highWatermark) }
    this.#partition(batch.topic, batch.partition).take(records, to, this.#options.onSkipped)
  }

  /**
   * Ends the assignment: starts nothing more, waits up to `ms` for work in progress, and commits what is finished by
   * then.
   */
  end(ms: number): Promise<void> {
    this.#ending ??= this.#drain(ms)
    return this.#ending
  }

  /** Ends it without waiting or committing: the group has moved on already. */
  abandon(): void {
    const wasActive = this.#state === 'active'
    this.#state = 'over'
    clearTimeout(this.#timer)
    if (wasActive) void this.#work.end()
  }

  async #drain(ms: number): Promise<void> {
    if (this.#state !== 'active') return
    this.#state = 'draining'
    const drained = this.#work.end().then(() => true)
    const complete = await within(ms, drained, () => false)
    if (!complete) this.#options.log.warn({ ms }, 'work was not finished in time when partitions were revoked')
    clearTimeout(this.#timer)
    const committed = this.#committing.then(() => this.#commitNow())
    await within(ms, committed, () => undefined)
    this.#state = 'over'
  }

  #partition(topic: string, id: number): Partition {
    const name = `${topic}/${id}`
    const existing = this.#owned.get(name)
    if (existing) return existing.partition
    const partition = new Partition({
      name,
      work: this.#work,
      limits: this.#options.limits,
      setPaused: (paused) => this.#options.setPaused(topic, id, paused),
      onProgress: () => this.#commitSoon(),
    })
    this.#owned.set(name, { topic, id, partition, committed: undefined })
    return partition
  }

  #commitSoon(): void {
    if (this.#timer || this.#state !== 'active') return
    this.#timer = setTimeout(() => {
      this.#committing = this.#committing.then(() => this.#commitNow())
      this.#committing.finally(() => {
        this.#timer = undefined
        if (this.#uncommitted().length > 0) this.#commitSoon()
      })
    }, COMMIT_DELAY_MS)
  }

  #uncommitted(): { owned: Owned; offset: number }[] {
    return [...this.#owned.values()].flatMap((owned) => {
      const offset = owned.partition.committable
      return offset === undefined || offset === owned.committed ? [] : [{ owned, offset }]
    })
  }

  /** A failed commit is covered by the next one; a rebalance is detected by the loop's heartbeat. */
  async #commitNow(): Promise<void> {
    const uncommitted = this.#uncommitted()
    if (this.#state === 'over' || !this.#commit || uncommitted.length === 0) return
    const topics = [...Map.groupBy(uncommitted, ({ owned }) => owned.topic)].map(([topic, of]) => ({
      topic,
      partitions: of.map(({ owned, offset }) => ({ partition: owned.id, offset: String(offset) })),
    }))
    try {
      await this.#commit({ topics })
      for (const { owned, offset } of uncommitted) owned.committed = offset
    } catch (error) {
      this.#options.log.debug({ err: error }, 'offsets were not committed')
    }
  }
}
