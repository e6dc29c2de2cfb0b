import type { DomainEvent, EventOf, TopicDefinition } from '@restante/contracts'
import type { Consumer } from './consumer/consumer.ts'
import { encodeHeaders, type HeaderMap } from './envelope.ts'

/** For tests: an event as the relay would write it to Kafka. */
export function recordOf(event: DomainEvent): { key: Buffer; value: Buffer; headers: HeaderMap } {
  return {
    key: Buffer.from(event.key),
    value: Buffer.from(JSON.stringify(event.payload)),
    headers: encodeHeaders('/restante/test', event),
  }
}

/**
 * For tests of handlers: hands events to a consumer as Kafka may, at its worst. Every event comes twice, and each pair
 * also in the wrong order: the last one first back to the first, then all of them again as they were raised. What the
 * service holds afterwards must be the same as after one delivery in order. The consumer need not be started.
 */
export async function deliverTwiceAndSwapped<T extends TopicDefinition, Orm>(
  consumer: Consumer<T, Orm>,
  ...events: readonly EventOf<T>[]
): Promise<void> {
  for (const event of [...events.toReversed(), ...events]) {
    await consumer.deliver({ partition: 0, offset: 0, timestamp: event.time.getTime(), ...recordOf(event) })
  }
}
