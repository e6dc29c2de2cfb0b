import { isLockTimeout, isStatementTimeout } from '@restante/service/database'
import { type RecordedEvent, readEnvelope } from '../kafka/envelope.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { type PausablePartitions, type Policy, RevokedError, tryWork } from './attempts.ts'
import { isForGroup, type ProcessorOptions } from './event-processor.ts'
import type { BatchHandler, PreparedBatchHandler } from './handlers.ts'
import { blamingEvent, markEvents } from './marks.ts'
import type { Processor } from './processor.ts'
import type { Report } from './report.ts'

const BATCH_SIZE = 200
/** After so long, in milliseconds, the other events of a batch ahead of its turn have one attempt each: more of them wait. */
const PATIENT_MS = 30_000

/**
 * A batch took too long, or a lock that one of its events needs is held. Not an infrastructure error, which would have the
 * same tried for ever.
 */
class HeldUpError extends Error {
  override readonly name = 'HeldUpError'
}

/** Handles events in batches: all effects and all marks of a batch in one transaction. */
export class BatchProcessor implements Processor {
  readonly queuePerKey = false
  readonly batchSize: number
  readonly #options: ProcessorOptions
  readonly #handler: BatchHandler | PreparedBatchHandler
  readonly #types: ReadonlySet<string>

  constructor(options: ProcessorOptions, handler: BatchHandler | PreparedBatchHandler) {
    this.#options = options
    this.#handler = handler
    this.batchSize = handler.batchSize ?? BATCH_SIZE
    this.#types = new Set(handler.types ?? options.topics.flatMap(({ events }) => Object.keys(events)))
  }

  accepts(record: ConsumedRecord): boolean {
    const type = record.headers['ce_type']
    return isForGroup(record, this.#options.policy.group) && (type === undefined || this.#types.has(type))
  }

  async process(records: readonly ConsumedRecord[], partitions: PausablePartitions): Promise<void> {
    if (records.length > 1 && (await this.#together(records, partitions))) return
    for (const record of records) await this.#options.reporter.one(record, () => this.#alone(record, partitions))
  }

  /**
   * The same for records that overtake older ones. What fails after as many attempts is left without a mark to the group's
   * consumer, which comes there later.
   */
  async processAhead(records: readonly ConsumedRecord[], partitions: PausablePartitions): Promise<void> {
    if (records.length > 1 && (await this.#together(records, partitions))) return
    const { policy } = this.#options
    const patientUntil = performance.now() + PATIENT_MS
    for (const record of records) {
      const attempts = performance.now() < patientUntil ? policy.attempts : 1
      await this.#aloneAhead(record, { ...policy, attempts }, partitions)
    }
  }

  /** @returns false when the batch as a whole fails or takes too long, so that each event must be tried by itself. */
  #together(records: readonly ConsumedRecord[], partitions: PausablePartitions): Promise<boolean> {
    const policy = { ...this.#options.policy, attempts: 1 }
    return this.#reported(records, policy, partitions, () => this.#performPromptly(records))
  }

  async #aloneAhead(record: ConsumedRecord, policy: Policy, partitions: PausablePartitions): Promise<void> {
    if (await this.#reported([record], policy, partitions, () => this.#performUnlessLocked(record))) return
    const { topic, partition, offset, headers } = record
    const facts = { group: policy.group, topic, type: headers['ce_type'], id: headers['ce_id'], partition, offset }
    policy.log.warn(facts, 'event could not be handled ahead and is left to its turn')
  }

  #reported(
    records: readonly ConsumedRecord[],
    policy: Policy,
    partitions: PausablePartitions,
    work: () => Promise<number>,
  ): Promise<boolean> {
    return this.#options.reporter.many(records, async () => {
      const tried = await tryWork(policy, partitions, work)
      return tried.done ? { handled: tried.value, attempt: tried.attempt } : undefined
    })
  }

  async #alone(record: ConsumedRecord, partitions: PausablePartitions): Promise<Report> {
    const { policy, deadLetters } = this.#options
    const tried = await tryWork(policy, partitions, () => this.#performAlone(record))
    if (tried.done) return { outcome: tried.value === 1 ? 'handled' : 'duplicate', attempt: tried.attempt }
    const written = await deadLetters.write(record, tried.error, partitions.signal)
    if (written === undefined) throw new RevokedError('revoked')
    return { outcome: 'dead_letter', attempt: tried.attempt, error: tried.error }
  }

  #performAlone(record: ConsumedRecord): Promise<number> {
    const { db, policy } = this.#options
    return blamingEvent(db, policy.group, () => this.#perform([record]))
  }

  /** The fresh events behind it must not wait for all of the time in which a lock is held. */
  async #performUnlessLocked(record: ConsumedRecord): Promise<number> {
    try {
      return await this.#performAlone(record)
    } catch (error) {
      if (isLockTimeout(error)) throw new HeldUpError(String(error))
      throw error
    }
  }

  async #performPromptly(records: readonly ConsumedRecord[]): Promise<number> {
    try {
      return await this.#perform(records)
    } catch (error) {
      if (isStatementTimeout(error) || isLockTimeout(error)) throw new HeldUpError(String(error))
      throw error
    }
  }

  /** @returns how many of the events had not been processed before. */
  async #perform(records: readonly ConsumedRecord[]): Promise<number> {
    const events = new Map<string, RecordedEvent>()
    for (const record of records) {
      const event = readEnvelope(record)
      if (!events.has(event.id)) events.set(event.id, event)
    }
    const effect = await this.#effect([...events.values()])
    return this.#options.db.transaction(async (tx) => {
      const fresh = await markEvents(tx, this.#options.policy.group, [...events.keys()])
      if (fresh.size > 0)
        await effect(
          tx,
          [...events.values()].filter((event) => fresh.has(event.id)),
        )
      return fresh.size
    })
  }

  async #effect(events: readonly RecordedEvent[]): Promise<BatchHandler['effectMany']> {
    const handler = this.#handler
    if ('prepareMany' in handler) return handler.prepareMany(events)
    return (tx, fresh) => handler.effectMany(tx, fresh)
  }
}
