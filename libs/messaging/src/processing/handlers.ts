import type { DomainEvent, TopicDefinition } from '@restante/contracts/events'
import type { Tx } from '@restante/service/database'
import type { z } from 'zod'
import type { RecordedEvent } from '../kafka/envelope.ts'

/**
 * The effect of one type of event. It runs in one transaction with the mark that the event was processed, so it happens
 * exactly once however often the event arrives. Events may arrive in a different order than they were raised: apply by
 * version or by unique key.
 */
export interface EffectHandler<E> {
  effect(tx: Tx, event: E): Promise<void>
}

/**
 * The same for work that needs something from outside first (a blob, another service's answer): `prepare` runs before
 * the transaction and returns what is to be done inside it, or undefined when there is nothing to do. `prepare` may run
 * more than once for one event.
 */
export interface PreparedHandler<E> {
  prepare(event: E): Promise<((tx: Tx) => Promise<void>) | undefined>
}

export type Handler<E> = EffectHandler<E> | PreparedHandler<E>

/** Event type to handler; types without one are skipped. */
export type Handlers<T extends TopicDefinition> = {
  readonly [K in keyof T['events'] & string]?: Handler<DomainEvent<K, z.infer<T['events'][K]['schema']>>>
}

/**
 * Many events in one transaction, for consumers whose work per event is small. The events may be from several partitions, each
 * in its order. They are fresh (not processed before) and not decoded: `decodeEvent` decodes one. When the batch fails, its
 * events are processed again one by one, so that only the bad one is dead-lettered.
 */
export interface BatchHandler {
  effectMany(tx: Tx, events: readonly RecordedEvent[]): Promise<void>
  /** Types to handle; the others are skipped. Default: all that the topics define. */
  readonly types?: readonly string[]
  /** Most events in one transaction. Default 200. */
  readonly batchSize?: number
}

/**
 * The same for work that needs something from outside first: `prepareMany` runs before the transaction and returns what is
 * to be done inside it with the events that are fresh. It may run more than once for one event, and for events that were
 * processed before.
 */
export interface PreparedBatchHandler extends Omit<BatchHandler, 'effectMany'> {
  prepareMany(events: readonly RecordedEvent[]): Promise<BatchHandler['effectMany']>
}

/** A handler whose event's type is known only at run time, from the topic. */
export type AnyHandler = Handler<DomainEvent>
