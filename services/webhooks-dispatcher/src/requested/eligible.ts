import { formatPosition, type RecordedEvent } from '@restante/messaging'
import { base62Id } from '../delivery/ids.ts'
import { matches } from '../delivery/rules/matching.ts'
import type { RequestedDelivery, RequestedWebhook } from './store.ts'

/** What became of an event that may be sent again to a webhook. */
type Known = ReadonlyMap<string, { readonly id: string; readonly pending: boolean }>

export interface Eligible {
  /** Events that the webhook got, or should have got, at their time. */
  readonly matched: number
  /** Of these, those whose delivery has not ended. */
  readonly pending: number
  /** The deliveries of the others. */
  readonly deliveries: readonly RequestedDelivery[]
}

/**
 * Of the events of a time range those that a webhook got at their time, or should have got: it has a delivery of them,
 * or matches them since before they were raised. What it came to match by a later change, or was raised while it was
 * disabled, is never sent to it (events 8.3). An event about mail of a deleted inbox names no inbox, and is left out.
 */
export function eligibleEvents(webhook: RequestedWebhook, events: readonly RecordedEvent[], known: Known): Eligible {
  const distinct = [...new Map(events.map((event) => [event.id, event])).values()]
  const matched = distinct.filter(
    (event) =>
      event.routing.organizationId === webhook.organization_id &&
      (known.has(event.id) || (wasAsNow(webhook, event.time) && matches(webhook, event))),
  )
  const ended = matched.filter(({ id }) => known.get(id)?.pending !== true)
  return {
    matched: matched.length,
    pending: matched.length - ended.length,
    deliveries: ended.flatMap((event) => requestedDelivery(event, known.get(event.id)?.id) ?? []),
  }
}

/** Whether a webhook was enabled at a time, and matched what it matches now. */
function wasAsNow({ active_since, matching_since }: RequestedWebhook, at: Date): boolean {
  return at >= active_since && at >= matching_since
}

/**
 * The delivery of an event that was asked for.
 * @param id of its earlier delivery, by which the receiver knows the event.
 * @returns undefined when the message that the event is about went with its inbox.
 */
export function requestedDelivery(event: RecordedEvent, id: string = base62Id('msg_')): RequestedDelivery | undefined {
  const { inboxUid } = event.routing
  const messageId = event.type.startsWith('message.') ? event.subject : undefined
  if (messageId !== undefined && inboxUid === undefined) return undefined
  return {
    id,
    event_id: event.id,
    event_type: event.type,
    body: event.value.toString(),
    record: formatPosition(event.position),
    about: inboxUid === undefined ? undefined : { inboxUid, messageId },
  }
}
