import type { z } from 'zod'
import { LIMITS } from '../../vocabulary/limits.ts'
import type { DomainEvent, EventDefinition, EventRouting, TopicDefinition } from './event.ts'

/** The identities that place an event in the tree of organization, pod and inbox. */
interface Placed {
  readonly organization_id: string
  readonly pod_id?: string | undefined
  readonly inbox_uid?: string | undefined
}

/** Routing of an event by the identities in its facts. */
export function routingWithin({
  organization_id: organizationId,
  pod_id: podId,
  inbox_uid: inboxUid,
}: Placed): EventRouting {
  return { organizationId, ...(podId !== undefined && { podId }), ...(inboxUid !== undefined && { inboxUid }) }
}

/** How a topic derives the envelope of an event from its facts. */
interface EnvelopeRules<Key extends string, Facts extends { readonly [K in Key]: string }> {
  /** The fact that becomes the Kafka key; order is kept per key. */
  readonly key: Key
  /** The subject of the event: an id that can be searched for. */
  readonly subject: (facts: Facts, type: string) => string
  /** Organization, pod and inbox of the event, so that consumers need not decode its payload. */
  readonly routing: (facts: Facts) => EventRouting
}

type TopicHead = Pick<TopicDefinition, 'name' | 'producer' | 'summary'>
type Events<Facts = unknown> = Readonly<
  Record<string, Omit<EventDefinition, 'schema'> & { readonly schema: z.ZodType<Facts> }>
>

/** The time of an event, and its id if the producer has one that repetitions share. */
export interface EventMoment {
  readonly time: Date
  /** Default: a random UUID. */
  readonly id?: string
}

type MadeEvent<E extends Events, Type extends keyof E & string> = {
  [K in Type]: DomainEvent<K, z.output<E[K]['schema']>>
}[Type]
type Payload<E extends Events, Type extends keyof E & string> = { [K in Type]: z.output<E[K]['schema']> }[Type]

const COMMON = { partitions: 6, retentionMs: LIMITS.retention.topic } as const

function makeEvent<
  Key extends string,
  Facts extends { readonly [K in Key]: string },
  E extends Events,
  Type extends keyof E & string,
>(
  topic: TopicHead & EnvelopeRules<Key, Facts> & { readonly events: E },
  type: Type,
  payload: Payload<E, Type>,
  facts: Facts,
  { time, id = crypto.randomUUID() }: EventMoment,
): MadeEvent<E, Type> {
  const event: DomainEvent = {
    id,
    type,
    subject: topic.subject(facts, type),
    key: facts[topic.key],
    time,
    routing: topic.routing(facts),
    payload,
  }
  if (isMade(topic.events, type, event)) return event
  throw new TypeError(`the topic ${topic.name} has no type ${type}`)
}

/**
 * The payload's type was checked against the event's type by the compiler, so the type's name is all that is left to
 * check.
 */
function isMade<E extends Events, Type extends keyof E & string>(
  events: E,
  type: Type,
  event: DomainEvent,
): event is MadeEvent<E, Type> {
  return Object.hasOwn(events, type) && event.type === type
}

/** The declaration of a topic, without the rules for its envelopes. */
function declaredPart<const Key extends string, const E>({
  name,
  producer,
  summary,
  key,
  events,
}: TopicHead & { readonly key: Key; readonly events: E }) {
  return { ...COMMON, name, producer, summary, key, events }
}

/** A topic whose payloads contain the facts for its envelopes. */
export function defineTopic<
  const Key extends string,
  Facts extends { readonly [K in Key]: string },
  const E extends Events<Facts>,
>(definition: TopicHead & EnvelopeRules<Key, Facts> & { readonly events: E }) {
  return {
    ...declaredPart(definition),
    /** An event of this topic with its envelope. */
    event<const Type extends keyof E & string>(
      type: Type,
      payload: Payload<E, Type>,
      moment: EventMoment,
    ): MadeEvent<E, Type> {
      return makeEvent(definition, type, payload, payload, moment)
    },
  }
}

/** A topic whose payloads are public documents, which name no immutable identities: producers provide the facts. */
export function definePublicTopic<
  const Key extends string,
  Facts extends { readonly [K in Key]: string },
  const E extends Events,
>(definition: TopicHead & EnvelopeRules<Key, Facts> & { readonly events: E }) {
  return {
    ...declaredPart(definition),
    /** An event of this topic with its envelope, which `about` decides. */
    event<const Type extends keyof E & string>(
      type: Type,
      payload: Payload<E, Type>,
      moment: EventMoment & { readonly about: Facts },
    ): MadeEvent<E, Type> {
      return makeEvent(definition, type, payload, moment.about, moment)
    },
  }
}
