import { LIMITS } from '@restante/contracts/vocabulary'
import type { MessageRow } from './rows/rows.ts'

/** Key of a row of `attachment_texts`, and whose turn it takes. */
export interface ReadableAttachment {
  readonly message_uid: string
  readonly attachment_id: string
  readonly organization_id: string
}

/** Types that no mailer gives to a document. Of all others, the bytes tell what they are. */
const MEDIA = /^(?:image|audio|video)\//i

const { bytes, perMessage } = LIMITS.document

/** The attachments of a message that may be documents whose text can be read, at most `LIMITS.document.perMessage`. */
export function readableAttachments({
  id,
  organization_id,
  attachments,
}: Pick<MessageRow, 'id' | 'organization_id' | 'attachments'>): ReadableAttachment[] {
  return attachments
    .filter(({ size, content_type }) => size > 0 && size <= bytes && !MEDIA.test(content_type))
    .slice(0, perMessage)
    .map(({ attachment_id }) => ({ message_uid: id, attachment_id, organization_id }))
}
