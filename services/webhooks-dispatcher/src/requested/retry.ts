import type { Timers } from '@restante/jobs'
import { type Kafka, parsePosition, readRecordedEvent } from '@restante/messaging'
import type { Database, Tx } from '@restante/service/database'
import { ApiError, notFound } from '@restante/service/errors'
import { isKept, type MailboxOptions } from '../delivery/mailbox.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import type { LogRow } from '../log/store.ts'
import { requestedDelivery } from './eligible.ts'
import type { Readings } from './readings.ts'
import { addRequested, findEntry, findPending, logDueNow, type RequestedDelivery } from './store.ts'

export interface RetryOptions extends MailboxOptions {
  readonly db: Database
  readonly kafka: Kafka
  readonly timers: Timers<TimerKinds>
  readonly readings: Readings
}

/** A webhook of the scope of the request. */
interface Found {
  readonly id: string
  readonly organization_id: string
  readonly enabled: boolean
}

/** How the webhook of a request is found: within the scope of its caller, or of any organization for the operator. */
export interface Lookup {
  find(): Promise<Found | undefined>
  /** The same by its id, because an alias may name another one by now; locked until the transaction ends. */
  lock(tx: Tx, id: string): Promise<Found | undefined>
}

/**
 * Sends a delivery again, under its id (events 8.3): one that has not ended now instead of later, and one that has
 * ended from the event that Kafka still keeps. Its attempts and retries are those of any delivery. Before each of them
 * its inbox and message are looked up, so that nothing is sent of one that is deleted since. Asking twice makes one
 * delivery.
 * @throws ApiError 404 without a webhook or delivery in the scope, 409 when it cannot be sent.
 */
export async function retryDelivery(deps: RetryOptions, webhook: Lookup, deliveryId: string): Promise<LogRow> {
  const found = requireEnabled(await webhook.find())
  const entry = await findEntry(deps.db, found.id, deliveryId)
  const lock = async (tx: Tx) => requireEnabled(await webhook.lock(tx, found.id))
  const pending = await advance(deps, lock, deliveryId)
  if (pending) return pending
  if (!entry) throw notFound('Delivery')
  const requested = await readAgain(deps, found.organization_id, entry)
  await deps.db.transaction(async (tx) => {
    const { id } = await lock(tx)
    // Another request may have been first.
    if (await findPending(tx, id, deliveryId)) return
    await addRequested(tx, id, [requested])
    await deps.timers.schedule(tx, { kind: 'webhook-delivery', key: deliveryId, payload: {} })
  })
  return { ...entry, state: 'retrying', next_attempt_at: new Date() }
}

/** Makes the next attempt of a delivery due now that has not ended. @returns undefined when it has. */
function advance(
  { db, timers }: RetryOptions,
  lock: (tx: Tx) => Promise<Found>,
  deliveryId: string,
): Promise<LogRow | undefined> {
  return db.transaction(async (tx) => {
    const { id } = await lock(tx)
    const pending = await findPending(tx, id, deliveryId)
    if (!pending) return undefined
    await logDueNow(tx, deliveryId)
    await timers.advance(tx, 'webhook-delivery', [deliveryId])
    return pending
  })
}

async function readAgain(
  deps: RetryOptions,
  organizationId: string,
  entry: Pick<LogRow, 'id' | 'event_id' | 'event_type'> & { readonly record: string | null },
): Promise<RequestedDelivery> {
  const position = entry.record === null ? undefined : parsePosition(entry.record)
  if (!position)
    throw conflict('The event of this delivery is not kept', 'Send a test event, or wait for the next event.')
  const event = await deps.readings.run(organizationId, () => readRecordedEvent(deps.kafka, position))
  // Topics that were made again begin at the same offsets.
  if (event?.id !== entry.event_id || event.routing.organizationId !== organizationId) {
    throw conflict('The event is older than 7 days and no longer kept', 'Read what you missed over the API instead.')
  }
  const delivery = requestedDelivery(event, entry.id)
  if (!delivery) throw deleted('message')
  const { about } = delivery
  if (about && !(await isKept(deps, organizationId, about))) {
    throw deleted(about.messageId === undefined ? 'inbox' : 'message')
  }
  return delivery
}

function requireEnabled(webhook: Found | undefined): Found {
  if (!webhook) throw notFound('Webhook')
  if (webhook.enabled) return webhook
  throw conflict('The webhook is disabled', 'Enable it first, with enabled: true.')
}

function deleted(what: 'inbox' | 'message'): ApiError {
  return conflict(`The ${what} of this event is deleted`, `Nothing can be sent of a deleted ${what}.`)
}

function conflict(message: string, fix: string): ApiError {
  return new ApiError('conflict', { message, fix })
}
