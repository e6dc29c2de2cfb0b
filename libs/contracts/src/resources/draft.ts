import { z } from 'zod'
import { clientId, instant } from '../schemas/text.ts'
import { draftId, inboxId, messageId, podId } from '../vocabulary/ids.ts'
import { attachment } from './attachment.ts'

/** What becomes of a scheduled draft (mail 11.4); a draft without `send_at` has none. */
export const SEND_STATUSES = ['scheduled', 'sending', 'failed'] as const
export type SendStatus = (typeof SEND_STATUSES)[number]

const addresses = z.array(z.string().meta({ description: '`user@host` or `Display Name <user@host>`' }))

/** A draft in a list: no bodies (mail 5.4). */
export const draftItem = z
  .object({
    pod_id: podId,
    inbox_id: inboxId,
    draft_id: draftId,
    labels: z.array(z.string()).meta({ description: '`draft`, `scheduled` with `send_at`, and custom ones.' }),
    to: addresses.optional(),
    cc: addresses.optional(),
    bcc: addresses.optional(),
    subject: z.string().optional(),
    preview: z.string().optional().meta({ description: 'First 200 characters of the text.' }),
    attachments: z.array(attachment).optional(),
    in_reply_to: messageId.optional(),
    forward_of: messageId.optional(),
    send_status: z.enum(SEND_STATUSES).optional(),
    send_at: instant.optional(),
    updated_at: instant,
    created_at: instant,
  })
  .meta({ id: 'DraftItem' })
export type DraftItem = z.infer<typeof draftItem>

/** A draft in full. Quote and forwarded message are added when it is sent. */
export const draft = draftItem
  .extend({
    client_id: clientId.optional(),
    reply_to: addresses.optional(),
    text: z.string().optional(),
    html: z.string().optional(),
    references: z.array(messageId).optional().meta({ description: 'Oldest first.' }),
  })
  .meta({ id: 'Draft' })
export type Draft = z.infer<typeof draft>
