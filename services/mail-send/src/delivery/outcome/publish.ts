import { countFacts } from '../../reputation/counts.ts'
import type { SendRecord } from '../outbound/sends.ts'
import { deliveriesTopic, deliveryEvents, type Occurrence } from './delivery-events.ts'
import type { Recording } from './suppressions.ts'

/** Publishes what has happened to a message, and counts it for the reputation of its organization, in one transaction. */
export async function publishOccurrences(
  { tx, outbox }: Recording,
  send: SendRecord,
  occurrences: readonly Occurrence[],
): Promise<void> {
  const events = deliveryEvents(send, occurrences, new Date())
  await outbox.addAll(tx, deliveriesTopic, events)
  await countFacts(tx, events)
}
