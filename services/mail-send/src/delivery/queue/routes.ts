import type { DeliveryHold, HoldScope, QueuedDelivery, WaitingDestination } from '@restante/contracts/internal'
import { isUuid } from '@restante/contracts/vocabulary'
import type { Queryable } from '@restante/service/database'
import { ApiError } from '@restante/service/errors'
import type { InternalHandlers } from '@restante/service/http'
import type { DeliveryQueue } from './delivery-queue.ts'
import {
  findById,
  findByMessage,
  type HoldRow,
  listHolds,
  listWaiting,
  type QueuedRow,
  type WaitingRow,
} from './store.ts'

/** The operations of the operator's command line on the outbound queue. */
export type QueueOperation =
  | 'mail-send.listQueue'
  | 'mail-send.showQueued'
  | 'mail-send.retryQueued'
  | 'mail-send.dropQueued'
  | 'mail-send.holdQueue'
  | 'mail-send.releaseQueue'
  | 'mail-send.listHolds'

export function queueRoutes(db: Queryable, queue: DeliveryQueue): Pick<InternalHandlers<'mail-send'>, QueueOperation> {
  return {
    'mail-send.listQueue': async ({ body: { limit, ...filter } }) => ({
      destinations: (await listWaiting(db, filter, limit)).map(waitingOf),
    }),
    'mail-send.showQueued': async ({ body: { id } }) => ({
      deliveries: (await (isUuid(id) ? findById(db, id) : findByMessage(db, id))).map(queuedOf),
    }),
    'mail-send.retryQueued': ({ body: { operator, ...filter } }) => queue.retry(filter, operator),
    'mail-send.dropQueued': ({ body: { operator, ...filter } }) => queue.drop(filter, operator),
    'mail-send.holdQueue': async ({ body: { operator, ...scope } }) => ({
      created: await queue.hold(given(scope), operator),
    }),
    'mail-send.releaseQueue': async ({ body: { operator, ...scope } }) => ({
      released: await queue.release(given(scope), operator),
    }),
    'mail-send.listHolds': async () => ({ holds: (await listHolds(db)).map(holdOf) }),
  }
}

function given(scope: HoldScope): HoldScope {
  const isNamed = scope.destination !== undefined || scope.organization_id !== undefined
  if (isNamed !== (scope.everything === true)) return scope
  const message = 'A hold names a destination, an organization, or both; or it is of everything.'
  throw new ApiError('validation_error', { message })
}

function waitingOf({ oldest, next, status, ...row }: WaitingRow): WaitingDestination {
  return {
    ...row,
    oldest_at: oldest.toISOString(),
    ...(next !== null && { next_attempt_at: next.toISOString() }),
    ...(status !== null && { status }),
  }
}

function queuedOf(row: QueuedRow): QueuedDelivery {
  const { id, message_id, recipient, destination, state, attempts, held } = row
  return {
    delivery_id: id,
    message_id,
    ...(row.organization_id !== null && { organization_id: row.organization_id }),
    ...(row.inbox_uid !== null && { inbox_uid: row.inbox_uid }),
    recipient,
    destination,
    state,
    attempts,
    ...(row.status !== null && { status: row.status }),
    ...(row.diagnostic !== null && { diagnostic: row.diagnostic }),
    ...(row.remote !== null && { remote: row.remote }),
    held,
    queued_at: row.queued_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...(row.next !== null && { next_attempt_at: row.next.toISOString() }),
  }
}

function holdOf({ organization_id, destination, operator, created_at }: HoldRow): DeliveryHold {
  return {
    ...(organization_id !== null && { organization_id }),
    ...(destination !== null && { destination }),
    ...(organization_id === null && destination === null && { everything: true as const }),
    operator,
    created_at: created_at.toISOString(),
  }
}
