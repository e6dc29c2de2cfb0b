import { countFacts } from '../../reputation/counts.ts'
import type { SendRecord } from '../outbound/sends.ts'
import { deliveriesTopic, deliveryEvents, type Occurrence } from './delivery-events.ts'
import type { Recording } from './suppressions.ts'

/** Later reports say nothing about what an organization sends now, and could be collected for one moment. */
const COUNTED_MS = 24 * 3_600_000

/** Publishes what has happened to a message, and counts it for the reputation of its organization, in one transaction. */
export async function publishOccurrences(
  { tx, outbox }: Recording,
  send: SendRecord,
  occurrences: readonly Occurrence[],
): Promise<void> {
  const events = deliveryEvents(send, occurrences, new Date())
  await outbox.addAll(tx, deliveriesTopic, events)
  if (Date.now() - send.acceptedAt.getTime() < COUNTED_MS) await countFacts(tx, events)
}
