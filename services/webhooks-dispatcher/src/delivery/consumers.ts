import { PUBLIC_EVENT_TYPES, PUBLIC_TOPICS, type TopicDefinition } from '@restante/contracts/events'
import type { Timers } from '@restante/jobs'
import { Consumer, consumerGroup, formatPosition, type Kafka, LATE_MS, type RecordedEvent } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { base62Id } from './ids.ts'
import { GivingWay } from './rules/giving-way.ts'
import { matches } from './rules/matching.ts'
import { addDeliveries, type EventDocument, holdEnabled, knownPairs, subscribersOf } from './store.ts'
import type { TimerKinds } from './timers.ts'

const SERVICE = 'webhooks-dispatcher'
const NAME = 'public-events'
/** The group of the consumer of public events. */
export const PUBLIC_EVENTS_GROUP = consumerGroup(SERVICE, NAME)

interface PublicEventsOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly timers: Timers<TimerKinds>
  /** Requests of this process at once. */
  readonly concurrency: number
}

/** Turns each event of every public topic into one delivery per matching webhook; the first attempt starts with the commit. */
export function publicEventsConsumer({
  kafka,
  db,
  timers,
  concurrency,
}: PublicEventsOptions): Consumer<TopicDefinition> {
  return new Consumer({
    kafka,
    db,
    service: SERVICE,
    topics: PUBLIC_TOPICS,
    name: NAME,
    batch: {
      types: PUBLIC_EVENT_TYPES,
      effectMany: (tx, events) => fanOut(tx, timers, events),
    },
    overtaking: new GivingWay({ concurrency, waiting: (most) => timers.unbegun('webhook-delivery', most) }),
  })
}

/**
 * A dead letter may be handled again after its event was sent by a replay: then the event is not new to the webhooks that
 * have got it.
 */
async function fanOut(tx: Tx, timers: Timers<TimerKinds>, events: readonly RecordedEvent[]): Promise<void> {
  const organizations = [...new Set(events.map((event) => event.routing.organizationId))]
  const subscribers = await subscribersOf(tx, organizations)
  const wanted = events.flatMap((event) =>
    subscribers
      .filter((webhook) => matches(webhook, event))
      .map(({ id }) => ({ event, webhook_id: id, event_id: event.id, event_type: event.type })),
  )
  if (wanted.length === 0) return
  // In this order: what a replay adds meanwhile is known once the webhook is held.
  const [enabled, known] = await Promise.all([
    holdEnabled(tx, [...new Set(wanted.map(({ webhook_id }) => webhook_id))]),
    knownPairs(tx, wanted),
  ])
  const knownKeys = new Set(known.map(pairKey))
  const due = wanted.filter((one) => enabled.has(one.webhook_id) && !knownKeys.has(pairKey(one)))
  if (due.length === 0) return
  const payloads = new Map(due.map(({ event }) => [event.id, documentOf(event)]))
  const added = due.map(({ event, ...pair }) => ({ event, delivery: { id: base62Id('msg_'), ...pair } }))
  const deliveries = added.map(({ delivery }) => delivery)
  const attempts = added.map(({ event, delivery }) => ({
    kind: 'webhook-delivery' as const,
    key: delivery.id,
    payload: traceOf(event),
    hasTime: isLate(event),
  }))
  await Promise.all([addDeliveries(tx, payloads, deliveries), timers.scheduleAll(tx, attempts)])
}

/** Whether it is of a backlog: deliveries of fresh events come first. */
function isLate({ time }: RecordedEvent): boolean {
  return Date.now() - time.getTime() > LATE_MS
}

/** The events of a batch have traces of their own, so that the requests continue these and not that of the batch. */
function traceOf({ headers: { traceparent } }: RecordedEvent): TimerKinds['webhook-delivery'] {
  return traceparent === undefined ? {} : { traceparent }
}

function pairKey(pair: { readonly webhook_id: string; readonly event_id: string }): string {
  return `${pair.webhook_id} ${pair.event_id}`
}

/** What a delivery of an event carries, and where to read it again. */
export function documentOf({ value, position }: RecordedEvent): EventDocument {
  return { body: value.toString(), record: formatPosition(position) }
}
