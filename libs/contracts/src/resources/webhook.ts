import { z } from 'zod'
import { EVENT_TYPES } from '../access/event-types.ts'
import { clientId, instant } from '../schemas/text.ts'
import { inboxId, organizationId, podId, webhookId } from '../vocabulary/ids.ts'

export const webhook = z
  .object({
    organization_id: organizationId.optional(),
    webhook_id: webhookId,
    url: z.string(),
    secret: z.string().meta({ description: 'Key of the signatures: `whsec_` and base64.' }),
    enabled: z.boolean(),
    event_types: z.array(z.enum(EVENT_TYPES)).optional(),
    inbox_ids: z.array(inboxId).optional().meta({ description: 'Filter; omitted when empty.' }),
    pod_ids: z.array(podId).optional().meta({ description: 'Filter; omitted when empty.' }),
    pod_id: podId.optional().meta({ description: 'Pod that it belongs to.' }),
    inbox_id: inboxId.optional().meta({ description: 'Inbox that it belongs to.' }),
    client_id: clientId.optional(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof webhook>

/** Answer of a create. A repeated create shows the secret only to a credential that knows it or could read it. */
export const createdWebhook = webhook
  .extend({
    secret: webhook.shape.secret.optional().meta({
      description:
        'Key of the signatures: `whsec_` and base64. A create that finds a webhook by its `client_id` omits it unless the key created that webhook or has `webhook_read`.',
    }),
  })
  .meta({ id: 'CreatedWebhook' })
export type CreatedWebhook = z.infer<typeof createdWebhook>
