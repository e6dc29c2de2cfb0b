import { PUBLIC_EVENT_TYPES, PUBLIC_TOPICS } from '@restante/contracts/events'
import type { InternalRequestOf, ReplayBatch } from '@restante/contracts/internal'
import {
  formatPosition,
  parsePosition,
  type RecordedEvent,
  type RecordPosition,
  type RecordRange,
  readEvents,
  recordedBetween,
} from '@restante/messaging'
import { PUBLIC_EVENTS_GROUP } from '../delivery/consumers.ts'
import { eligibleEvents } from './eligible.ts'
import type { RetryOptions } from './retry.ts'
import { addRequested, knownDeliveries, lockAnyWebhook } from './store.ts'

type Request = InternalRequestOf<'webhooks-dispatcher.replayRange'>

/** Of one call, which reads one partition: bounds its memory and its time. */
const BATCH = { records: 1_000, bytes: 16 * 1024 * 1024, ms: 10_000 }

/**
 * Sends events of a time range to a webhook again, a batch for each call. The range is about when events reached Kafka.
 * What the dispatcher has not consumed yet is left to it. Repeating a call adds nothing to what is still pending.
 * @returns undefined when the webhook is unknown or disabled.
 */
export async function replayRange(deps: RetryOptions, request: Request): Promise<ReplayBatch | undefined> {
  const { kafka, readings } = deps
  const range = { from: new Date(request.from), to: new Date(request.to) }
  const partitions = await recordedBetween(kafka, PUBLIC_TOPICS, PUBLIC_EVENTS_GROUP, range)
  const left = leftAfter(partitions, request.after === undefined ? undefined : parsePosition(request.after))
  const [current, following] = left
  return readings.run('operator', async () => {
    const { events, next } = current ? await readEvents(kafka, current, BATCH) : { events: [], next: 0 }
    const isPublic = ({ type }: RecordedEvent) => PUBLIC_EVENT_TYPES.includes(type)
    const done = await queue(deps, request, events.filter(isPublic))
    const place = current && next < current.until ? { ...current, offset: next } : following
    return done && { ...done, scanned: events.length, ...(place && { next: formatPosition(place) }) }
  })
}

/** What is left of the partitions, in their order, from a position on. */
function leftAfter(partitions: readonly RecordRange[], after: RecordPosition | undefined): RecordRange[] {
  const ordered = partitions.toSorted((a, b) => placeOf(a) - placeOf(b))
  if (!after) return ordered
  return ordered.flatMap((range) => {
    if (placeOf(range) > placeOf(after)) return [range]
    if (placeOf(range) < placeOf(after) || after.offset >= range.until) return []
    return [{ ...range, offset: Math.max(range.offset, after.offset) }]
  })
}

const MOST_PARTITIONS = 1_000_000

function placeOf({ topic, partition }: RecordPosition): number {
  return PUBLIC_TOPICS.findIndex(({ name }) => name === topic) * MOST_PARTITIONS + partition
}

/** The webhook is locked, so that it is neither deleted, disabled nor taken over before the deliveries are stored. */
function queue(
  { db, timers }: RetryOptions,
  { webhook_id: id, dry_run: isDryRun }: Request,
  events: readonly RecordedEvent[],
): Promise<Omit<ReplayBatch, 'scanned' | 'next'> | undefined> {
  return db.transaction(async (tx) => {
    const webhook = await lockAnyWebhook(tx, id)
    if (!webhook?.enabled) return undefined
    const own = events.filter(({ routing }) => routing.organizationId === webhook.organization_id)
    const known = await knownDeliveries(
      tx,
      id,
      own.map((event) => event.id),
    )
    const { matched, pending, deliveries } = eligibleEvents(webhook, own, known)
    if (isDryRun || deliveries.length === 0) return { matched, pending, queued: 0 }
    await addRequested(tx, id, deliveries)
    const attempts = deliveries.map((delivery) => ({
      kind: 'webhook-delivery' as const,
      key: delivery.id,
      payload: {},
      hasTime: true,
    }))
    await timers.scheduleAll(tx, attempts)
    return { matched, pending, queued: deliveries.length }
  })
}
