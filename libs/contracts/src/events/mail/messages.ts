import { z } from 'zod'
import { message } from '../../resources/message.ts'
import { threadItem } from '../../resources/thread.ts'
import { instant } from '../../schemas/text.ts'
import { inboxId, messageId, threadId } from '../../vocabulary/ids.ts'

/** Head of every public event: one document for webhooks, streams and Kafka (events 2). */
function envelope<const Type extends string>(type: Type) {
  return { type: z.literal('event'), event_type: z.literal(type), event_id: z.guid() }
}

const receivedMessage = message
  .extend({ from_: z.string().meta({ description: 'Copy of `from`, in events only.' }) })
  .meta({ id: 'ReceivedMessage' })

function received<const Type extends string>(type: Type) {
  return z.object({ ...envelope(type), message: receivedMessage, thread: threadItem })
}

const about = { inbox_id: inboxId, thread_id: threadId, message_id: messageId, timestamp: instant }
const recipients = z.array(z.string()).meta({ description: 'Bare addresses of to, cc and bcc.' })

/** Bounce types and sub types (events 1.3). */
export const BOUNCE_TYPES = ['Permanent', 'Transient', 'Undetermined'] as const
export const BOUNCE_SUB_TYPES = [
  'NoEmail',
  'General',
  'MailboxFull',
  'MessageTooLarge',
  'ContentRejected',
  'Undetermined',
] as const

/** The public documents of mail, by event type (events 2, 3). */
export const messageEvents = {
  'message.received': { schema: received('message.received'), public: true, summary: 'A mail is in the inbox.' },
  'message.received.spam': {
    schema: received('message.received.spam'),
    public: true,
    summary: 'A mail was stored as spam.',
  },
  'message.received.blocked': {
    schema: received('message.received.blocked'),
    public: true,
    summary: 'A mail was stored as blocked by a list.',
  },
  'message.received.unauthenticated': {
    schema: received('message.received.unauthenticated'),
    public: true,
    summary: 'A mail was stored whose sender could not be verified.',
  },
  'message.sent': {
    schema: z.object({ ...envelope('message.sent'), send: z.object({ ...about, recipients }) }),
    public: true,
    summary: 'A mail was sent: handed over to an external server or to an inbox of the installation.',
  },
  'message.delivered': {
    schema: z.object({ ...envelope('message.delivered'), delivery: z.object({ ...about, recipients }) }),
    public: true,
    summary: "A recipient's server accepted the mail; once per acceptance.",
  },
  'message.bounced': {
    schema: z.object({
      ...envelope('message.bounced'),
      bounce: z.object({
        ...about,
        type: z.enum(BOUNCE_TYPES),
        sub_type: z.enum(BOUNCE_SUB_TYPES),
        recipients: z.array(z.object({ address: z.string(), status: z.literal('bounced') })),
      }),
    }),
    public: true,
    summary: 'A recipient was permanently refused, or retries were used up.',
  },
  'message.complained': {
    schema: z.object({
      ...envelope('message.complained'),
      complaint: z.object({ ...about, type: z.string(), sub_type: z.string(), recipients }),
    }),
    public: true,
    summary: "A recipient's provider reports the mail as spam.",
  },
  'message.rejected': {
    schema: z.object({ ...envelope('message.rejected'), reject: z.object({ ...about, reason: z.string() }) }),
    public: true,
    summary: 'A mail was refused after acceptance and before it left.',
  },
  'message.opened': {
    schema: z.object({ ...envelope('message.opened'), open: z.object(about) }),
    public: true,
    summary: 'The image of a mail was loaded for the first time.',
  },
} as const
