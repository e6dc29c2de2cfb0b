import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { inboxId, messageId, organizationId, podId, threadId } from '../vocabulary/ids.ts'
import { attachment } from './attachment.ts'
import { highlights } from './highlights.ts'
import { message } from './message.ts'
import { PAGE } from './page.ts'

/** A thread in a list, and in a received event (mail 5.3). */
export const threadItem = z
  .object({
    organization_id: organizationId.optional(),
    pod_id: podId.optional(),
    inbox_id: inboxId,
    thread_id: threadId,
    labels: z.array(z.string()).meta({ description: 'Union over its messages, in first-seen order.' }),
    timestamp: instant.meta({ description: 'Newest activity.' }),
    received_timestamp: instant.optional(),
    sent_timestamp: instant.optional(),
    senders: z.array(z.string()),
    recipients: z.array(z.string()),
    subject: z.string().optional().meta({ description: 'Subject of the first message.' }),
    preview: z.string().optional().meta({ description: 'Preview of the newest message.' }),
    attachments: z.array(attachment).optional(),
    last_message_id: messageId,
    message_count: z.int(),
    size: z.int().meta({ description: 'Bytes of its raw messages.' }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'ThreadItem' })
export type ThreadItem = z.infer<typeof threadItem>

/** A thread that a search has found, with the highlights of its best message. */
export const foundThread = threadItem.extend({ highlights: highlights.optional() }).meta({ id: 'FoundThread' })
export type FoundThread = z.infer<typeof foundThread>

/** A thread with one page of its messages, ascending; the first page has the newest (mail 10). */
export const thread = threadItem.extend({ ...PAGE, messages: z.array(message) }).meta({ id: 'Thread' })
export type Thread = z.infer<typeof thread>

/** Answer of a label change on a thread: the union over its messages after it (mail 5.6). */
export const updatedThread = z
  .object({ thread_id: threadId, labels: z.array(z.string()) })
  .meta({ id: 'UpdateThreadResponse' })
export type UpdatedThread = z.infer<typeof updatedThread>
