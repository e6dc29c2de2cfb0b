import { z } from 'zod'

/** Bytes in the object storage that services share; the digest is lower-case hex. */
export const blobReference = z.object({ name: z.string(), size: z.int(), sha256: z.string() })
export type BlobReference = z.infer<typeof blobReference>

/** Whose mail a fact is about: the immutable identities, never the address. */
export const mailScope = { organization_id: z.guid(), pod_id: z.guid(), inbox_uid: z.guid() }

/**
 * What the mailbox needs to hold a message that mail-send accepted. The bodies are in the raw blob. `bcc` is only here,
 * for the raw message never holds it (mail 6.6). The extracted texts are the caller's own words without the quote; they are
 * left out when they are larger than 64 KB together, and the mailbox then extracts them from the bodies (mail 8.3, 14).
 */
export const sentCopy = z.object({
  ...mailScope,
  message_id: z.string(),
  thread_id: z.guid(),
  timestamp: z.iso.datetime().meta({ description: 'Time of sending.' }),
  from: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()).optional(),
  bcc: z.array(z.string()).optional(),
  reply_to: z.array(z.string()).optional(),
  subject: z.string().optional(),
  labels: z.array(z.string()).meta({ description: "The caller's own labels; the mailbox adds `sent`." }),
  in_reply_to: z.string().optional(),
  references: z.array(z.string()).optional(),
  extracted_text: z.string().optional(),
  extracted_html: z.string().optional(),
  blob: blobReference.meta({ description: 'The raw message.' }),
})
export type SentCopy = z.infer<typeof sentCopy>
