import { z } from 'zod'
import { inboxId, messageId, organizationId, podId, threadId } from '../ids.ts'
import { mailScope } from '../schemas/sent-copy.ts'
import { instant } from '../schemas/text.ts'
import { publicMessageEvents } from './public.ts'

/** A label transition, as the inbox event log shows it (mail 18). */
function labelChange<const Type extends 'label.added' | 'label.removed'>(type: Type) {
  return z.object({
    organization_id: organizationId,
    pod_id: podId,
    inbox_id: inboxId,
    event_id: z.string().meta({ description: 'UUIDv7: sorts by time.' }),
    event_type: z.literal(type),
    message_id: messageId,
    label: z.string(),
    event_at: instant,
    created_at: instant,
  })
}

/** Events of the topic `mail.messages`: the public documents byte for byte, and what only services read. */
export const mailMessagesEvents = {
  ...publicMessageEvents,
  'label.added': { schema: labelChange('label.added'), summary: 'A message got a label.' },
  'label.removed': { schema: labelChange('label.removed'), summary: 'A message lost a label.' },
  'message.deleted': {
    schema: z.object({
      ...mailScope,
      thread_id: threadId,
      message_id: messageId,
      size: z.int(),
      thread_deleted: z.boolean().meta({ description: 'It was the last message of its thread.' }),
      deleted_at: instant,
    }),
    summary: 'A message was deleted for good.',
  },
  'thread.deleted': {
    schema: z.object({ ...mailScope, thread_id: threadId, message_count: z.int(), size: z.int(), deleted_at: instant }),
    summary: 'A thread was deleted with its messages.',
  },
} as const
