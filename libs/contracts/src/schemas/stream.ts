import { z } from 'zod'
import { EVENT_TYPES } from '../access/event-types.ts'
import { organizationId } from '../vocabulary/ids.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { frameEventTypes, frameIds } from './event-filter.ts'

/** A place in the log of events: opaque, and valid for the scope of the key that got it (events 6, beyond it). */
export const streamCursor = z.string().min(1).max(LIMITS.stream.cursor)

const givenCursor = z.string().meta({ description: 'Resumes after what has arrived so far; valid for 24 hours.' })

/** Frame by which a client subscribes to events; absent, null or empty types mean the default set (events 6.2). */
export const subscribeFrame = z
  .object({
    type: z.literal('subscribe'),
    event_types: frameEventTypes.nullable().optional(),
    inbox_ids: frameIds.nullable().optional(),
    pod_ids: frameIds.nullable().optional(),
    cursors: z.boolean().nullable().optional().meta({ description: 'Whether each event carries a `cursor`.' }),
    resume_from: streamCursor.nullable().optional().meta({
      description: 'Cursor of an earlier frame or poll: what was missed since comes first, then `resumed`.',
    }),
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
    cursor: givenCursor.optional().meta({ description: 'Only to `cursors` or `resume_from`.' }),
  })
  .meta({ id: 'SubscribedFrame' })
export type SubscribedFrame = z.output<typeof subscribedFrame>

export const unsubscribedFrame = z
  .object({ type: z.literal('unsubscribed'), organization_id: organizationId, ...echoedIds })
  .meta({ id: 'UnsubscribedFrame' })
export type UnsubscribedFrame = z.output<typeof unsubscribedFrame>

/** Marks the end of what a subscription with `resume_from` had missed; what follows is live. */
export const resumedFrame = z
  .object({ type: z.literal('resumed'), organization_id: organizationId, cursor: givenCursor })
  .meta({ id: 'ResumedFrame' })
export type ResumedFrame = z.output<typeof resumedFrame>

/** Answer to a frame that is no JSON object of a known type; it has no `type` itself (events 6.3). */
export const FORBIDDEN_FRAME = { message: 'Forbidden' } as const
