import type { TopicDefinition } from '@restante/contracts/events'
import type { Transactional, Tx } from '@restante/service/database'
import { type DeadLetters, REPLAY_HEADER } from '../dead-letters/dead-letters.ts'
import { decodeEvent, InvalidRecordError, readEnvelope } from '../kafka/envelope.ts'
import type { ConsumedRecord } from '../kafka/record.ts'
import { type PausablePartitions, type Policy, RevokedError, tryWork } from './attempts.ts'
import type { AnyHandler } from './handlers.ts'
import { blamingEvent, IS_MARKED, MARK } from './marks.ts'
import type { Processor } from './processor.ts'
import type { Report, Reporter } from './report.ts'

export interface ProcessorOptions {
  readonly topics: readonly TopicDefinition[]
  readonly db: Transactional
  readonly deadLetters: DeadLetters
  readonly policy: Policy
  readonly reporter: Reporter
}

/**
 * A replay is meant for the group that could not handle the record; the other groups have handled it, or have it in
 * their own dead letters.
 */
export function isForGroup(record: ConsumedRecord, group: string): boolean {
  const replayFor = record.headers[REPLAY_HEADER]
  return replayFor === undefined || replayFor === group
}

/** Handles events one by one: the effect and its mark in one transaction each. */
export class EventProcessor implements Processor {
  readonly batchSize = 1
  readonly queuePerKey = true
  readonly #options: ProcessorOptions
  readonly #handlers = new Map<string, AnyHandler>()

  constructor(options: ProcessorOptions, handlers: { readonly [type: string]: AnyHandler | undefined }) {
    this.#options = options
    for (const [type, handler] of Object.entries(handlers)) if (handler) this.#handlers.set(type, handler)
  }

  /** Records without a readable type are accepted, so that they are dead-lettered instead of silently dropped. */
  accepts(record: ConsumedRecord): boolean {
    const type = record.headers['ce_type']
    return isForGroup(record, this.#options.policy.group) && (type === undefined || this.#handlers.has(type))
  }

  async process(records: readonly ConsumedRecord[], partitions: PausablePartitions): Promise<void> {
    for (const record of records) await this.#options.reporter.one(record, () => this.#handle(record, partitions))
  }

  async #handle(record: ConsumedRecord, partitions: PausablePartitions): Promise<Report> {
    const { db, policy, deadLetters } = this.#options
    const work = () => blamingEvent(db, policy.group, () => this.#perform(record))
    const tried = await tryWork(policy, partitions, work)
    if (tried.done) return { outcome: tried.value, attempt: tried.attempt }
    const written = await deadLetters.write(record, tried.error, partitions.signal)
    if (written === undefined) throw new RevokedError('revoked')
    return { outcome: 'dead_letter', attempt: tried.attempt, error: tried.error }
  }

  async #perform(record: ConsumedRecord): Promise<'handled' | 'duplicate' | 'skipped'> {
    const { topics, db, policy } = this.#options
    const envelope = readEnvelope(record)
    const handler = this.#handlers.get(envelope.type)
    if (!handler) return 'skipped'
    const topic = topics.find(({ name }) => name === record.topic)
    if (!topic) throw new InvalidRecordError(`${record.topic} is not a topic of this consumer`)
    const event = decodeEvent(topic, envelope)
    if ('effect' in handler) {
      return this.#once(envelope.id, (tx) => handler.effect(tx, event))
    }
    const [known] = await db.query(IS_MARKED, policy.group, envelope.id)
    if (known?.marked) return 'duplicate'
    const effect = await handler.prepare(event)
    return this.#once(envelope.id, async (tx) => effect?.(tx))
  }

  #once(id: string, effect: (tx: Tx) => Promise<void>): Promise<'handled' | 'duplicate'> {
    const { db, policy } = this.#options
    return db.transaction(async (tx) => {
      const fresh = await tx.query(MARK, policy.group, [id])
      if (fresh.length === 0) return 'duplicate'
      await effect(tx)
      return 'handled'
    })
  }
}
