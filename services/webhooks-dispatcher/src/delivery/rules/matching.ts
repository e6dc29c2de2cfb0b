import { subscribedEventTypes } from '@restante/contracts/access'
import type { EventRouting } from '@restante/contracts/events'

/** The properties of a webhook that decide whether it gets an event. */
export interface Subscriber {
  readonly organization_id: string
  /** Whether it is about the inboxes and pods that it names alone. Otherwise it is about the whole organization. */
  readonly is_filtered: boolean
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

/** The filters form a union. A webhook that lost its last id matches nothing: it must not widen (events 5). */
function withinFilters(webhook: Subscriber, routing: EventRouting): boolean {
  return (
    !webhook.is_filtered ||
    (routing.podId !== undefined && webhook.pod_ids.includes(routing.podId)) ||
    (routing.inboxUid !== undefined && webhook.inbox_uids.includes(routing.inboxUid))
  )
}
