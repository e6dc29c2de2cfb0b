import { z } from 'zod'
import { NOTHING } from '../../definition/define.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

/** Which waiting deliveries a command of the operator is about: all that match every member given. */
const queueFilter = z.object({
  destination: z.string().min(1).optional().meta({ description: 'Domain of the recipients.' }),
  organization_id: z.guid().optional(),
  queued_before: z.iso.datetime().optional(),
})
export type QueueFilter = z.infer<typeof queueFilter>

/** What a hold keeps back: mail to a destination, of an organization, of this one to that one, or all mail. */
const holdScope = z.object({
  destination: z.string().min(1).optional(),
  organization_id: z.guid().optional(),
  everything: z.literal(true).optional().meta({ description: 'In place of both others.' }),
})
export type HoldScope = z.infer<typeof holdScope>

const hold = z.object({ ...holdScope.shape, operator: z.string(), created_at: z.iso.datetime() })
export type DeliveryHold = z.infer<typeof hold>

/** The waiting deliveries to one destination. */
const waitingDestination = z.object({
  destination: z.string(),
  waiting: z.int().meta({ description: 'Deliveries that are not finished, those that are being attempted included.' }),
  running: z.int().meta({ description: 'Of these, being handed over.' }),
  held: z.int().meta({ description: 'Of these, kept back by a hold.' }),
  oldest_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().optional().meta({ description: 'Absent when all of it is held.' }),
  status: z.string().optional().meta({ description: 'Enhanced status code of the last failure.' }),
})
export type WaitingDestination = z.infer<typeof waitingDestination>

/** One recipient of one message. Neither subject nor content. */
const queuedDelivery = z.object({
  delivery_id: z.guid(),
  message_id: z.string(),
  organization_id: z.guid().optional(),
  inbox_uid: z.guid().optional(),
  recipient: z.string(),
  destination: z.string(),
  state: z.string(),
  attempts: z.int(),
  status: z.string().optional(),
  diagnostic: z.string().optional(),
  remote: z.string().optional(),
  held: z.boolean(),
  queued_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  next_attempt_at: z.iso.datetime().optional(),
})
export type QueuedDelivery = z.infer<typeof queuedDelivery>

const FROM_OPERATOR = { ...INTERNAL, service: 'mail-send', callers: ['gateway'] } as const
const operator = z.string().min(1).meta({ description: 'Who asked for it, for the log.' })
const batch = z.object({
  count: z.int(),
  more: z.boolean().meta({ description: 'The call did a batch; call again for the rest.' }),
})

/** The outbound queue, for the operator's command line. */
export const deliveryQueueOperations = internalGroup({
  'mail-send.listQueue': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.listQueue',
    path: '/internal/delivery-queue/list',
    summary: 'Count waiting deliveries by destination, most first',
    body: queueFilter.extend({ limit: z.int().min(1).max(1_000) }),
    response: z.object({ destinations: z.array(waitingDestination) }),
  }),
  'mail-send.showQueued': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.showQueued',
    path: '/internal/delivery-queue/show',
    summary: 'Show a delivery by its id, or those of a message',
    body: z.object({ id: z.string().min(1) }),
    response: z.object({ deliveries: z.array(queuedDelivery) }),
  }),
  'mail-send.retryQueued': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.retryQueued',
    path: '/internal/delivery-queue/retry',
    summary: 'Make waiting deliveries due now; counts attempts, one for each message and destination',
    body: queueFilter.extend({ operator }),
    response: batch,
  }),
  /** Races with attempts are decided by the row: what an attempt has begun ends with the outcome of that attempt. */
  'mail-send.dropQueued': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.dropQueued',
    path: '/internal/delivery-queue/drop',
    summary: 'Bounce waiting deliveries, except those that are being attempted',
    body: queueFilter.extend({ operator }),
    response: batch,
  }),
  'mail-send.holdQueue': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.holdQueue',
    path: '/internal/delivery-queue/hold',
    summary: 'Attempt no delivery of this scope, of later mail neither, until it is released',
    body: holdScope.extend({ operator }),
    response: z.object({ created: z.boolean().meta({ description: 'False: it was held already.' }) }),
  }),
  'mail-send.releaseQueue': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.releaseQueue',
    path: '/internal/delivery-queue/release',
    summary: 'End the hold of exactly this scope; what it kept back is due now',
    body: holdScope.extend({ operator }),
    response: z.object({ released: z.boolean().meta({ description: 'False: there was no such hold.' }) }),
  }),
  'mail-send.listHolds': defineInternal({
    ...FROM_OPERATOR,
    id: 'mail-send.listHolds',
    path: '/internal/delivery-queue/holds',
    summary: 'List the holds, oldest first',
    body: NOTHING,
    response: z.object({ holds: z.array(hold) }),
  }),
})
