import { subscribedEventTypes } from '@restante/contracts/access'
import type { EventRouting } from '@restante/contracts/events'

/** The properties of a webhook that decide whether it gets an event. */
export interface Subscriber {
  readonly organization_id: string
  readonly pod_id: string | null
  readonly inbox_uid: string | null
  readonly event_types: readonly string[]
  readonly pod_ids: readonly string[]
  readonly inbox_uids: readonly string[]
  readonly visible_labels: readonly string[]
  readonly active_since: Date
}

export interface RoutedEvent {
  readonly type: string
  readonly time: Date
  readonly routing: EventRouting
}

/** Clocks of two machines may differ by this much; an event just before activation is still delivered. */
const CLOCK_TOLERANCE_MS = 1_000

/** Whether a webhook gets an event: type, filters, labels and time must all match (events 5, 1.2 rule 2, 7.4). */
export function matches(webhook: Subscriber, event: RoutedEvent): boolean {
  return (
    webhook.organization_id === event.routing.organizationId &&
    subscribedEventTypes(webhook.event_types).includes(event.type) &&
    withinFilters(webhook, event.routing) &&
    (event.routing.restricted ?? []).every((label) => webhook.visible_labels.includes(label)) &&
    event.time.getTime() >= webhook.active_since.getTime() - CLOCK_TOLERANCE_MS
  )
}

/**
 * The filters form a union; without any, the whole organization matches: webhooks of a narrower scope always have a
 * filter.
 */
function withinFilters(webhook: Subscriber, routing: EventRouting): boolean {
  if (webhook.pod_ids.length === 0 && webhook.inbox_uids.length === 0)
    return webhook.pod_id === null && webhook.inbox_uid === null
  return (
    (routing.podId !== undefined && webhook.pod_ids.includes(routing.podId)) ||
    (routing.inboxUid !== undefined && webhook.inbox_uids.includes(routing.inboxUid))
  )
}
