import type { DomainEvent, EventOf, TopicDefinition } from '@restante/contracts/events'
import type { Consumer } from './consumer/consumer.ts'
import { encodeHeaders, type HeaderMap } from './kafka/envelope.ts'

/** For tests: an event as the relay would write it to Kafka. */
export function recordOf(event: DomainEvent): { key: Buffer; value: Buffer; headers: HeaderMap } {
  return {
    key: Buffer.from(event.key),
    value: Buffer.from(JSON.stringify(event.payload)),
    headers: encodeHeaders('/restante/test', event),
  }
}

/**
 * For tests of handlers: delivers events in an order that the seed decides, each of them one to three times. Whatever
 * the seed, the service must end in the same state. The consumer need not be started.
 */
export async function deliverShuffled<T extends TopicDefinition>(
  consumer: Consumer<T>,
  seed: number,
  ...events: readonly EventOf<T>[]
): Promise<void> {
  const random = randomFrom(seed)
  const copies = events.flatMap((event) => Array.from({ length: 1 + Math.floor(random() * 3) }, () => event))
  const drawn = copies.map((event) => ({ event, at: random() }))
  for (const { event } of drawn.sort((a, b) => a.at - b.at)) await deliverOnce(consumer, event)
}

/** Numbers from [0, 1) that depend on the seed alone (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** For tests of handlers: delivers one event to a consumer, which need not be started. */
export function deliverOnce<T extends TopicDefinition>(consumer: Consumer<T>, event: EventOf<T>): Promise<void> {
  return deliverTogether(consumer, event)
}

/** For tests of handlers of batches: delivers events to a consumer as one batch. */
export function deliverTogether<T extends TopicDefinition>(
  consumer: Consumer<T>,
  ...events: readonly EventOf<T>[]
): Promise<void> {
  const records = events.map((event) => {
    const topic = consumer.topics.find((one) => Object.hasOwn(one.events, event.type))
    if (!topic) throw new Error(`the consumer takes no topic with the type ${event.type}`)
    const place = { topic: topic.name, partition: 0, offset: 0, timestamp: event.time.getTime() }
    return { ...place, ...recordOf(event) }
  })
  return consumer.deliver(...records)
}

/**
 * For tests of handlers: delivers events to a consumer as Kafka may at its worst. Every event comes twice, and each
 * pair also in the wrong order: in reverse, then all of them again as they were raised. The service must end in the
 * same state as after one delivery in order. The consumer need not be started.
 */
export async function deliverTwiceAndSwapped<T extends TopicDefinition>(
  consumer: Consumer<T>,
  ...events: readonly EventOf<T>[]
): Promise<void> {
  for (const event of [...events.toReversed(), ...events]) await deliverOnce(consumer, event)
}
