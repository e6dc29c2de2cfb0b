import { z } from 'zod'
import { inboxEvent } from '../../resources/inbox-event.ts'
import { mailScope } from '../../schemas/mail-scope.ts'
import { instant } from '../../schemas/text.ts'
import { messageId, threadId } from '../../vocabulary/ids.ts'
import { restrictedAmong } from '../../vocabulary/mail/labels.ts'
import { definePublicTopic, routingWithin } from '../definition/topic.ts'
import { messageEvents } from './messages.ts'

/** A label transition, as the inbox event log shows it (mail 18). */
function labelChange<const Type extends 'label.added' | 'label.removed'>(type: Type) {
  return inboxEvent.extend({ event_type: z.literal(type) })
}

/** The message that an event is about. */
export interface MessageFacts {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  readonly message_id: string
  /** The current labels of the message; none when it was deleted with its inbox. */
  readonly labels: readonly string[]
  /** The inbox is deleted: its pod and organization still get the event, and no subscriber to the inbox does. */
  readonly inbox_deleted?: boolean
}

/** The exact public documents, and members that only services read. */
const events = {
  ...messageEvents,
  'label.added': { schema: labelChange('label.added'), summary: 'A message got a label.' },
  'label.removed': { schema: labelChange('label.removed'), summary: 'A message lost a label.' },
  'message.stored': {
    schema: z.object({
      ...mailScope,
      thread_id: threadId,
      message_id: messageId,
      direction: z.enum(['received', 'sent']),
      size: z.int(),
      thread_created: z.boolean().meta({ description: 'It is the first message of its thread.' }),
      stored_at: instant,
    }),
    summary: 'A message, received or sent, is in its mailbox.',
  },
  'message.deleted': {
    schema: z.object({
      ...mailScope,
      thread_id: threadId,
      message_id: messageId,
      size: z.int(),
      thread_deleted: z.boolean().meta({ description: 'It was the last message of its thread.' }),
      deleted_at: instant,
    }),
    summary: 'A message was deleted permanently.',
  },
} as const

export const mailMessagesTopic = definePublicTopic({
  name: 'mail.messages',
  producer: 'mail-ingest',
  summary: 'Public message events, byte for byte as webhooks and streams get them; label changes; deletions.',
  key: 'inbox_uid',
  subject: (facts: MessageFacts) => facts.message_id,
  routing: ({ inbox_deleted: isInboxDeleted, ...facts }) => ({
    ...routingWithin(isInboxDeleted ? { ...facts, inbox_uid: undefined } : facts),
    restricted: restrictedAmong(facts.labels),
  }),
  events,
})
