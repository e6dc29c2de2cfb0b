import { subscribedEventTypes } from '@restante/contracts/access'
import type { EventRouting } from '@restante/contracts/events'

/** What a change of a webhook changes: which events it gets. */
export interface Rules {
  readonly event_types: readonly string[]
  readonly pod_ids: readonly string[]
  readonly inbox_uids: readonly string[]
  readonly visible_labels: readonly string[]
}

/** The properties of a webhook that decide whether it gets an event. */
export interface Subscriber extends Rules {
  readonly organization_id: string
  /** Whether it is about the inboxes and pods that it names alone. Otherwise it is about the whole organization. */
  readonly is_filtered: boolean
  readonly active_since: Date
  /** Since when it has its rules, and those that it had before, the latest first, each until a time (ISO 8601). */
  readonly matching_since: Date
  readonly earlier_rules: readonly (Rules & { readonly until: string })[]
}

export interface RoutedEvent {
  readonly type: string
  readonly time: Date
  readonly routing: EventRouting
}

/** Clocks of two machines may differ by this much; an event just before activation, or a change, is as one after it. */
const CLOCK_TOLERANCE_MS = 1_000

/** Whether a webhook gets an event: type, filters, labels and time must all match (events 5, 1.2 rule 2, 7.4). */
export function matches(webhook: Subscriber, { type, time, routing }: RoutedEvent): boolean {
  if (webhook.organization_id !== routing.organizationId || isBefore(time, webhook.active_since)) return false
  const rules = rulesAt(webhook, time)
  return (
    subscribedEventTypes(rules.event_types).includes(type) &&
    (!webhook.is_filtered || isNamed(rules, routing)) &&
    (routing.restricted ?? []).every((label) => rules.visible_labels.includes(label))
  )
}

function isBefore(time: Date, since: Date): boolean {
  return time.getTime() < since.getTime() - CLOCK_TOLERANCE_MS
}

/** Events that were committed before a change, and are handled after it, are those of the rules before (events 7.4). */
function rulesAt(webhook: Subscriber, time: Date): Rules {
  if (!isBefore(time, webhook.matching_since)) return webhook
  return webhook.earlier_rules.findLast(({ until }) => isBefore(time, new Date(until))) ?? webhook
}

/** The filters form a union. A webhook that lost its last id matches nothing: it must not widen (events 5). */
function isNamed({ pod_ids, inbox_uids }: Rules, { podId, inboxUid }: EventRouting): boolean {
  return (podId !== undefined && pod_ids.includes(podId)) || (inboxUid !== undefined && inbox_uids.includes(inboxUid))
}
