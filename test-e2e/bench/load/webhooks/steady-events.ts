import type { InboxScope } from '@restante/testkit'
import { type Summary, summarize } from '../../harness/statistics.ts'
import { eventsFor, type WebhookLoad } from './webhook-load.ts'

/**
 * Publishes events at a steady rate, one for each of the inboxes at a time.
 * @returns latencies of the first inbox, in milliseconds.
 */
export async function steadyEvents(
  load: WebhookLoad,
  scopes: readonly InboxScope[],
  { count, rate }: { readonly count: number; readonly rate: number },
): Promise<Summary> {
  const times = new Map<string, number>()
  const began = Date.now()
  for (let sent = 0; sent < count; sent++) {
    const due = began + (sent * 1_000) / rate
    if (due > Date.now()) await new Promise((resolve) => setTimeout(resolve, due - Date.now()))
    const events = eventsFor(scopes, scopes.length)
    // The time at which it was due, so that a slow publication counts.
    if (events[0]) times.set(events[0].id, due)
    await load.publish(events)
  }
  await load.received(times.keys())
  return summarize([...times].map(([id, at]) => (load.arrivals.get(id) ?? 0) - at))
}
