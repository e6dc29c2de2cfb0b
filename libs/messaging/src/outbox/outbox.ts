import type { DomainEvent, EventOf, TopicDefinition } from '@restante/contracts/events'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { Notifier, type Queryable, sql, type Tx } from '@restante/service/database'
import { encodeHeaders } from '../kafka/envelope.ts'

/** Largest payload of an event in bytes of JSON; a Kafka record may hold 2 MB, headers and overhead included. */
export const MAX_EVENT_BYTES = 900 * 1024

/** An event too large for Kafka, refused before the transaction that raised it commits. */
export class EventTooLargeError extends Error {
  override readonly name = 'EventTooLargeError'
  readonly topic: string
  readonly type: string
  readonly bytes: number
  constructor(topic: string, type: string, bytes: number) {
    super(`${type} on ${topic} has ${bytes} bytes; an event may have ${MAX_EVENT_BYTES}. Refer to the content instead.`)
    this.topic = topic
    this.type = type
    this.bytes = bytes
  }
}

/** An event that does not match its own topic's definition: a defect of the producer. */
export class InvalidEventError extends Error {
  override readonly name = 'InvalidEventError'
}

/**
 * An event that was validated and encoded, with the trace of the work that raised it. Only `Outbox.encode` makes one.
 */
export interface EncodedEvent {
  readonly topic: string
  readonly event: DomainEvent
  readonly headers: string
  readonly payload: string
}

// One statement for one event or many, so that there is one plan; the ordinality keeps positions in the caller's order.
const INSERT = sql<
  never,
  [
    ids: string[],
    topics: string[],
    keys: string[],
    types: string[],
    subjects: string[],
    times: string[],
    headers: string[],
    payloads: string[],
  ]
>(`insert into outbox (id, topic, key, type, subject, time, headers, payload)
select id, topic, key, type, subject, time, headers::jsonb, payload
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
       with ordinality as event(id, topic, key, type, subject, time, headers, payload, ordinal)
 order by ordinal`)

/** NOTIFY channel on which commits of other processes are signalled to the leading relay. */
export const CHANNEL = 'restante_outbox'

/**
 * The only way to publish: an event is written into the outbox table by the transaction that makes the state change it
 * describes, so that both happen or neither. The relay carries it to Kafka afterwards.
 */
export class Outbox {
  readonly #source: string
  readonly #service: ServiceName
  readonly #notifier: Notifier

  constructor(options: { db: Queryable; service: ServiceName }) {
    this.#service = options.service
    this.#source = `/restante/${options.service}`
    this.#notifier = new Notifier(options.db, CHANNEL)
  }

  /**
   * Adds one event to the outbox in the transaction.
   * @throws EventTooLargeError, InvalidEventError: the transaction must not commit.
   */
  add<T extends TopicDefinition>(tx: Tx, topic: T, event: EventOf<T>): Promise<void> {
    return this.addAll(tx, topic, [event])
  }

  /** Adds several events of one topic with one statement; they are published in this order. */
  addAll<T extends TopicDefinition>(tx: Tx, topic: T, events: readonly EventOf<T>[]): Promise<void> {
    return this.record(tx, this.encode(topic, events))
  }

  /**
   * Validates and encodes events where they are raised, for a transaction that `record`s the events of several pieces
   * of work.
   * @throws EventTooLargeError, InvalidEventError
   */
  encode<T extends TopicDefinition>(topic: T, events: readonly EventOf<T>[]): EncodedEvent[] {
    return events.map((event) => this.#encode(topic, event))
  }

  /** Adds encoded events, of any topics, with one statement; they are published in this order. */
  async record(tx: Tx, encoded: readonly EncodedEvent[]): Promise<void> {
    if (encoded.length === 0) return
    await tx.query(
      INSERT,
      encoded.map(({ event }) => event.id),
      encoded.map(({ topic }) => topic),
      encoded.map(({ event }) => event.key),
      encoded.map(({ event }) => event.type),
      encoded.map(({ event }) => event.subject),
      encoded.map(({ event }) => event.time.toISOString()),
      encoded.map(({ headers }) => headers),
      encoded.map(({ payload }) => payload),
    )
    tx.afterCommit(this.#notifier.notify)
  }

  /** While this process leads the relay, commits signal its wake-up directly and need no NOTIFY. */
  attach(notify: () => void): () => void {
    return this.#notifier.attach(notify)
  }

  #encode(topic: TopicDefinition, event: DomainEvent): EncodedEvent {
    if (topic.producer !== this.#service) {
      throw new InvalidEventError(`only ${topic.producer} publishes to ${topic.name}`)
    }
    const definition = topic.events[event.type]
    if (!definition) throw new InvalidEventError(`the topic ${topic.name} has no type ${event.type}`)
    const parsed = definition.schema.safeParse(event.payload)
    if (!parsed.success) {
      const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'payload'}: ${issue.message}`)
      throw new InvalidEventError(`${event.type} on ${topic.name} is not valid: ${problems.join('; ')}`)
    }
    const payload = JSON.stringify(parsed.data)
    const bytes = Buffer.byteLength(payload)
    if (bytes > MAX_EVENT_BYTES) throw new EventTooLargeError(topic.name, event.type, bytes)
    return { topic: topic.name, event, payload, headers: JSON.stringify(encodeHeaders(this.#source, event)) }
  }
}
