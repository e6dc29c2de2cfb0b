import { z } from 'zod'
import { LIMITS } from '../vocabulary/limits.ts'
import { blobReference, mailScope } from './mail-scope.ts'

/** Larger than any message, because the limits of a send apply before a copy is created. */
const addresses = z.array(z.string()).max(LIMITS.mime.addresses)
/** Those of the source of a reply, and its own id. */
const REFERENCES = LIMITS.mime.headerFields

/**
 * What the mailbox needs to store a message that mail-send accepted. The bodies are in the raw blob. `bcc` is only
 * here, because the raw message never contains it (mail 6.6). The extracted texts are the caller's text without
 * the quote; they are omitted when they are larger than 64 KB together, and the mailbox then extracts them from the
 * bodies (mail 8.3, 14).
 */
export const sentCopy = z.object({
  ...mailScope,
  message_id: z.string(),
  thread_id: z.guid(),
  timestamp: z.iso.datetime().meta({ description: 'Time of sending.' }),
  from: z.string(),
  to: addresses,
  cc: addresses.optional(),
  bcc: addresses.optional(),
  reply_to: addresses.optional(),
  subject: z.string().optional(),
  labels: z
    .array(z.string())
    .max(LIMITS.labels.perResource)
    .meta({ description: "The caller's own labels; the mailbox adds `sent`." }),
  take_overs: z.int().min(0).optional().meta({
    description:
      'How often the organization had been taken over when the message was asked for, or its draft created. Absent: not known.',
  }),
  in_reply_to: z.string().optional(),
  references: z.array(z.string()).max(REFERENCES).optional(),
  extracted_text: z.string().optional(),
  extracted_html: z.string().optional(),
  blob: blobReference.meta({ description: 'The raw message.' }),
})
export type SentCopy = z.infer<typeof sentCopy>
