import { countFacts } from '../../reputation/counts.ts'
import type { SendRecord } from '../outbound/sends.ts'
import { deliveriesTopic, deliveryEvents, type Occurrence } from './delivery-events.ts'
import type { Recording } from './suppressions.ts'

/** Later reports say nothing about what an organization sends now, and could be collected for one moment. */
const COUNTED_MS = 24 * 3_600_000

/** What has happened to a message and some of its recipients, in order. */
export interface Happened {
  readonly send: SendRecord
  readonly occurrences: readonly Occurrence[]
}

/** Publishes what has happened to a message, and counts it for the reputation of its organization, in one transaction. */
export function publishOccurrences(
  recording: Recording,
  send: SendRecord,
  occurrences: readonly Occurrence[],
): Promise<void> {
  return publishAll(recording, [{ send, occurrences }])
}

/** The same for several messages. */
export async function publishAll({ tx, outbox }: Recording, happened: readonly Happened[]): Promise<void> {
  const now = new Date()
  const published = happened.map(({ send, occurrences }) => ({
    events: deliveryEvents(send, occurrences, now),
    isCounted: now.getTime() - send.acceptedAt.getTime() < COUNTED_MS,
  }))
  await Promise.all([
    outbox.addAll(
      tx,
      deliveriesTopic,
      published.flatMap(({ events }) => events),
    ),
    countFacts(
      tx,
      published.flatMap(({ events, isCounted }) => (isCounted ? events : [])),
    ),
  ])
}
