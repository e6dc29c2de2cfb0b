import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { webhookDeliveryId, webhookId } from '../vocabulary/ids.ts'

export const DELIVERY_STATES = ['retrying', 'delivered', 'failed', 'dropped'] as const

const attempt = z.object({
  attempted_at: instant,
  latency_ms: z.int(),
  http_status: z.int().optional().meta({ description: 'Status of the response; absent when there was none.' }),
  error: z.string().optional().meta({ description: 'Why it failed; absent when it was acknowledged.' }),
})

/** One event for one webhook, with its attempts; never with the event's content (events 8.3). */
export const webhookDelivery = z
  .object({
    delivery_id: webhookDeliveryId,
    webhook_id: webhookId,
    event_id: z.string().meta({ description: 'As in the document of the event.' }),
    event_type: z.string().meta({ description: 'Type of the event; `webhook.test` for a test.' }),
    state: z.enum(DELIVERY_STATES).meta({
      description:
        '`failed`: given up after the last attempt. `dropped`: the webhook was disabled meanwhile, or the message or inbox deleted.',
    }),
    attempts: z.array(attempt).meta({ description: 'Oldest first; of very many the newest.' }),
    next_attempt_at: instant.optional().meta({ description: 'Only while it is retried.' }),
    created_at: instant,
  })
  .meta({ id: 'WebhookDelivery' })
export type WebhookDelivery = z.infer<typeof webhookDelivery>
