import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { inboxId, messageId, organizationId, podId } from '../vocabulary/ids.ts'

export const INBOX_EVENT_TYPES = ['label.added', 'label.removed'] as const

/** One label that a message got or lost (mail 18). */
export const inboxEvent = z
  .object({
    organization_id: organizationId,
    pod_id: podId,
    inbox_id: inboxId,
    event_id: z.string().meta({ description: 'UUIDv7: sorts by time.' }),
    event_type: z.enum(INBOX_EVENT_TYPES),
    message_id: messageId,
    label: z.string(),
    event_at: instant.meta({ description: 'When the label changed.' }),
    created_at: instant.meta({ description: 'When the change was recorded.' }),
  })
  .meta({ id: 'InboxEvent' })
export type InboxEvent = z.infer<typeof inboxEvent>
