import { z } from 'zod'
import { EVENT_TYPES } from '../access/event-types.ts'
import { organizationId } from '../vocabulary/ids.ts'
import { frameEventTypes, frameIds } from './event-filter.ts'

/** Frame by which a client subscribes to events; absent, null or empty types mean the default set (events 6.2). */
export const subscribeFrame = z
  .object({
    type: z.literal('subscribe'),
    event_types: frameEventTypes.nullable().optional(),
    inbox_ids: frameIds.nullable().optional(),
    pod_ids: frameIds.nullable().optional(),
  })
  .meta({ id: 'SubscribeFrame' })
export type SubscribeFrame = z.output<typeof subscribeFrame>

/** Frame that ends subscriptions: those of the ids, or without ids the bare one to the whole scope. */
export const unsubscribeFrame = z
  .object({
    type: z.literal('unsubscribe'),
    inbox_ids: frameIds.nullable().optional(),
    pod_ids: frameIds.nullable().optional(),
  })
  .meta({ id: 'UnsubscribeFrame' })
export type UnsubscribeFrame = z.output<typeof unsubscribeFrame>

const echoedIds = { inbox_ids: z.array(z.string()).optional(), pod_ids: z.array(z.string()).optional() }

/** Answer to `subscribe`: the given lists, and the organization of these events (events 6.3). */
export const subscribedFrame = z
  .object({
    type: z.literal('subscribed'),
    organization_id: organizationId,
    event_types: z.array(z.enum(EVENT_TYPES)).optional(),
    ...echoedIds,
  })
  .meta({ id: 'SubscribedFrame' })
export type SubscribedFrame = z.output<typeof subscribedFrame>

export const unsubscribedFrame = z
  .object({ type: z.literal('unsubscribed'), organization_id: organizationId, ...echoedIds })
  .meta({ id: 'UnsubscribedFrame' })
export type UnsubscribedFrame = z.output<typeof unsubscribedFrame>

/** Answer to a frame that is no JSON object of a known type; it has no `type` itself (events 6.3). */
export const FORBIDDEN_FRAME = { message: 'Forbidden' } as const
