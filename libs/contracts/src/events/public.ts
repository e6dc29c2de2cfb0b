import { z } from 'zod'
import { inboxId, messageId, threadId } from '../ids.ts'
import { message } from '../resources/message.ts'
import { threadItem } from '../resources/thread.ts'
import { instant } from '../schemas/text.ts'

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
export const publicMessageEvents = {
  'message.received': { schema: received('message.received'), summary: 'A mail is in the inbox.' },
  'message.received.spam': { schema: received('message.received.spam'), summary: 'A mail was stored as spam.' },
  'message.received.blocked': {
    schema: received('message.received.blocked'),
    summary: 'A mail was stored as blocked by a list.',
  },
  'message.received.unauthenticated': {
    schema: received('message.received.unauthenticated'),
    summary: 'A mail was stored whose sender could not be verified.',
  },
  'message.sent': {
    schema: z.object({ ...envelope('message.sent'), send: z.object({ ...about, recipients }) }),
    summary: 'A mail has left: handed to the outside or to an inbox here.',
  },
  'message.delivered': {
    schema: z.object({ ...envelope('message.delivered'), delivery: z.object({ ...about, recipients }) }),
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
    summary: 'A recipient was refused for good, or retries were used up.',
  },
  'message.complained': {
    schema: z.object({
      ...envelope('message.complained'),
      complaint: z.object({ ...about, type: z.string(), sub_type: z.string(), recipients }),
    }),
    summary: "A recipient's provider reports the mail as spam.",
  },
  'message.rejected': {
    schema: z.object({ ...envelope('message.rejected'), reject: z.object({ ...about, reason: z.string() }) }),
    summary: 'A mail was refused after acceptance and before it left.',
  },
} as const

/** A public event of mail, discriminated by `event_type`. */
export const publicEvent = z
  .discriminatedUnion('event_type', [
    publicMessageEvents['message.received'].schema,
    publicMessageEvents['message.received.spam'].schema,
    publicMessageEvents['message.received.blocked'].schema,
    publicMessageEvents['message.received.unauthenticated'].schema,
    publicMessageEvents['message.sent'].schema,
    publicMessageEvents['message.delivered'].schema,
    publicMessageEvents['message.bounced'].schema,
    publicMessageEvents['message.complained'].schema,
    publicMessageEvents['message.rejected'].schema,
  ])
  .meta({ id: 'Event' })
export type PublicEvent = z.infer<typeof publicEvent>
export type PublicEventType = PublicEvent['event_type']

/** Whether an event type of a topic is public: delivered to webhooks and streams, its value being the document itself. */
export function isPublicEventType(type: string): type is PublicEventType {
  return Object.hasOwn(publicMessageEvents, type)
}
