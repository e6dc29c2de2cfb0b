import { z } from 'zod'
import { DELIVERY_STATES, webhookDelivery } from '../../resources/webhook-delivery.ts'
import { defineInternal, INTERNAL, internalGroup } from '../definition/define.ts'

const FROM_OPERATOR = { ...INTERNAL, service: 'webhooks-dispatcher', callers: ['gateway'] } as const
const webhook_id = z.string().min(1)
const operator = z.string().min(1).meta({ description: 'Who asked for it, for the log.' })
const refused = z.string().meta({ description: 'Why nothing is sent, and what to do.' })

/** What one batch of a replay did. */
const replayBatch = z.object({
  scanned: z.int().meta({ description: 'Events read, of every organization.' }),
  matched: z.int().meta({ description: 'Of these, events that the webhook got, or should have got, at their time.' }),
  queued: z.int().meta({ description: 'Of these, sent again. None with `dry_run`.' }),
  pending: z.int().meta({ description: 'Of these, still being delivered, and left as they are.' }),
  next: z.string().optional().meta({ description: 'Where the next call continues; absent at the end.' }),
})
export type ReplayBatch = z.infer<typeof replayBatch>

/** The delivery log of webhooks and replays, for the operator's command line. */
export const webhookLogOperations = internalGroup({
  'webhooks-dispatcher.listLog': defineInternal({
    ...FROM_OPERATOR,
    id: 'webhooks-dispatcher.listLog',
    path: '/internal/webhook-log/list',
    summary: 'Page through the delivery log of a webhook, newest first; without `deliveries` it is unknown',
    body: z.object({
      webhook_id,
      since: z.iso.datetime().optional(),
      state: z.enum(DELIVERY_STATES).optional(),
      after: z.object({ created_at: z.iso.datetime(), delivery_id: z.string() }).optional(),
      limit: z.int().min(1).max(1_000),
    }),
    response: z.object({ deliveries: z.array(webhookDelivery).optional() }),
  }),
  'webhooks-dispatcher.replayDelivery': defineInternal({
    ...FROM_OPERATOR,
    id: 'webhooks-dispatcher.replayDelivery',
    path: '/internal/webhook-log/replay',
    summary: 'Send a delivery again, or now if it is retried anyway',
    body: z.object({ webhook_id, delivery_id: z.string().min(1), operator }),
    response: z.union([z.object({ delivery: webhookDelivery }), z.object({ refused })]),
  }),
  /** Repeating a call changes nothing for what it has queued and is not delivered yet. */
  'webhooks-dispatcher.replayRange': defineInternal({
    ...FROM_OPERATOR,
    id: 'webhooks-dispatcher.replayRange',
    path: '/internal/webhook-log/replay-range',
    summary: 'Send the events of a time range again that match a webhook, one batch of them; repeatable',
    body: z.object({
      webhook_id,
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      dry_run: z.boolean(),
      after: z.string().optional().meta({ description: 'The `next` of the previous batch.' }),
      operator,
    }),
    response: z.union([z.object({ batch: replayBatch }), z.object({ refused })]),
  }),
})
