import type { z } from 'zod'
import type { ServiceName } from '../../vocabulary/services.ts'

/**
 * Facts for routing, carried as CloudEvents extension headers (`ce_organizationid`, `ce_podid`, `ce_inboxuid`,
 * `ce_restricted`), so that the dispatcher and the fan-out never open the payload.
 */
export interface EventRouting {
  readonly organizationId: string
  readonly podId?: string
  readonly inboxUid?: string
  /** Restricted labels on the message (`spam`, `blocked`, `unauthenticated`, `trash`), in that order. */
  readonly restricted?: readonly string[]
}

/**
 * Routing of an event whose organization its producer cannot know: a report names a delivery, and only mail-send knows
 * the owner.
 */
export const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000'

/** One event, as a producer adds it to the outbox and a consumer reads it from the topic. */
export interface DomainEvent<Type extends string = string, Payload = unknown> {
  /** UUID; for a public event the `event_id` of its document. The key of every deduplication. */
  readonly id: string
  readonly type: Type
  /** The subject of the event: an id that can be searched for. */
  readonly subject: string
  /** The Kafka key, as the topic declares it. */
  readonly key: string
  readonly time: Date
  readonly routing: EventRouting
  readonly payload: Payload
}

/** One type of event: the shape of its JSON value. */
export interface EventDefinition {
  readonly schema: z.ZodType
  readonly summary: string
  /**
   * Whether webhooks and streams deliver it, its value being the document that they send. Its type is one of
   * `EVENT_TYPES`.
   */
  readonly public?: true
}

export interface TopicDefinition {
  readonly name: string
  readonly producer: ServiceName
  /** The value of the Kafka key; order is kept per key. */
  readonly key: string
  readonly partitions: number
  readonly retentionMs: number
  readonly summary: string
  /** By event type (`ce_type`). */
  readonly events: Readonly<Record<string, EventDefinition>>
}

/** Types of the events that a topic may carry. */
export type EventTypeOf<T extends TopicDefinition> = keyof T['events'] & string

/** The payload of one type of event, or of several. */
export type PayloadOf<T extends TopicDefinition, Type extends EventTypeOf<T>> = {
  [K in Type]: z.infer<T['events'][K]['schema']>
}[Type]

/** Events that one topic may carry, or those of some types, as a union discriminated by `type`. */
export type EventOf<T extends TopicDefinition, Type extends EventTypeOf<T> = EventTypeOf<T>> = {
  [K in Type]: DomainEvent<K, PayloadOf<T, K>>
}[Type]

/** Whether an event whose payload fits its type may be carried by a topic: whether the topic has that type. */
export function isEventOf<T extends TopicDefinition>(topic: T, event: DomainEvent): event is EventOf<T> {
  return Object.hasOwn(topic.events, event.type)
}
