import { z } from 'zod'
import { clientId, instant } from '../schemas/text.ts'
import { inboxId, podId } from '../vocabulary/ids.ts'

export const metadataValue = z.union([z.string(), z.number(), z.boolean()])

/** An inbox in every response, with exactly these members (identity 8.1). */
export const inbox = z
  .object({
    pod_id: podId,
    inbox_id: inboxId,
    email: inboxId,
    display_name: z.string().optional(),
    client_id: clientId.optional(),
    status: z.literal('paused').optional().meta({ description: 'Only while paused.' }),
    metadata: z.record(z.string(), metadataValue).optional().meta({ description: 'Omitted when empty.' }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Inbox' })
export type Inbox = z.infer<typeof inbox>
