import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { attachmentId, messageId } from '../vocabulary/ids.ts'

export const DISPOSITIONS = ['inline', 'attachment'] as const

export const attachment = z
  .object({
    attachment_id: attachmentId,
    size: z.int().meta({ description: 'Decoded bytes.' }),
    filename: z.string().optional(),
    content_type: z.string().optional(),
    content_disposition: z.enum(DISPOSITIONS).optional(),
    content_id: z.string().optional().meta({ description: 'Without angle brackets.' }),
  })
  .meta({ id: 'Attachment' })
export type Attachment = z.infer<typeof attachment>

const download = {
  download_url: z.string().meta({ description: 'Absolute; needs no Authorization; signed.' }),
  expires_at: instant,
}

export const attachmentResponse = attachment
  .extend({
    ...download,
    text_url: z.string().optional().meta({
      description:
        'Plain text of a PDF, DOCX, XLSX, PPTX, RTF or OpenDocument file, by a link like download_url; absent until it is read, and where none can be.',
    }),
  })
  .meta({ id: 'AttachmentResponse' })
export type AttachmentResponse = z.infer<typeof attachmentResponse>

/** The stored RFC 5322 bytes of a message, by link (mail 6.6). */
export const rawMessageResponse = z
  .object({ message_id: messageId, size: z.int(), ...download })
  .meta({ id: 'RawMessageResponse' })
export type RawMessageResponse = z.infer<typeof rawMessageResponse>
