import { z } from 'zod'
import { instant } from '../schemas/text.ts'
import { inboxId, messageId, organizationId, podId, threadId } from '../vocabulary/ids.ts'
import { attachment } from './attachment.ts'
import { highlights } from './highlights.ts'

const address = z.string().meta({ description: '`user@host` or `Display Name <user@host>`' })
const addresses = z.array(address)

export const AUTHENTICATION_VERDICTS = ['pass', 'none', 'fail', 'internal'] as const

/** The result of authenticating the sender of a received mail (mail 5.1), in the terms of RFC 8601. */
export const messageAuthentication = z
  .object({
    verdict: z.enum(AUTHENTICATION_VERDICTS).meta({
      description:
        '`pass`: the address in `from` is authenticated. `fail`: DMARC failed. `internal`: handed over inside the installation. `none`: all else.',
    }),
    from_domain: z.string().optional().meta({
      description:
        'Domain of the author, lower case and in ASCII; absent where `From` does not name exactly one mailbox.',
    }),
    spf: z.enum(['none', 'neutral', 'pass', 'fail', 'softfail', 'policy', 'temperror', 'permerror']),
    dkim: z.enum(['none', 'neutral', 'pass', 'fail', 'policy', 'temperror', 'permerror']).meta({
      description:
        "Result of the signature of the author's domain, else the best one. `policy`: it does not cover the mail as shown.",
    }),
    dmarc: z.enum(['none', 'pass', 'fail', 'temperror', 'permerror']),
    arc: z.enum(['none', 'pass', 'fail']),
  })
  .meta({ id: 'MessageAuthentication' })
export type MessageAuthentication = z.infer<typeof messageAuthentication>

/** A message in a list: no bodies, no headers (mail 5.2). */
export const messageItem = z
  .object({
    organization_id: organizationId.optional(),
    pod_id: podId.optional(),
    inbox_id: inboxId,
    thread_id: threadId,
    message_id: messageId,
    labels: z.array(z.string()),
    timestamp: instant.meta({
      description: 'Sent: time of sending. Received: its Date header, or the time of receipt.',
    }),
    from: address.meta({
      description:
        '`user@host` or `Display Name <user@host>`; for a received mail whose `From` does not name exactly one mailbox its text, or `(no sender)` without one.',
    }),
    to: addresses,
    cc: addresses.optional(),
    bcc: addresses.optional(),
    subject: z.string().optional(),
    preview: z.string().optional().meta({ description: 'First 200 characters of the text.' }),
    attachments: z.array(attachment).optional(),
    in_reply_to: messageId.optional(),
    references: z.array(messageId).optional().meta({ description: 'Oldest first.' }),
    size: z.int().meta({ description: 'Bytes of the raw message.' }),
    calendar_event_id: z.string().optional().meta({
      description: 'The event, or the date of a series, that the calendar file of this mail was applied to.',
    }),
    authentication: messageAuthentication.optional().meta({ description: 'Received messages only; fixed at arrival.' }),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'MessageItem' })
export type MessageItem = z.infer<typeof messageItem>

/** A message that a search has found. */
export const foundMessage = messageItem.extend({ highlights: highlights.optional() }).meta({ id: 'FoundMessage' })
export type FoundMessage = z.infer<typeof foundMessage>

/** A message in full (mail 5.1). */
export const message = messageItem
  .extend({
    reply_to: addresses.optional(),
    text: z.string().optional(),
    html: z.string().optional(),
    extracted_text: z.string().optional().meta({ description: 'Only what this message added.' }),
    extracted_html: z.string().optional().meta({ description: 'Only what this message added.' }),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .meta({ description: 'Unfolded and decoded; repeated fields joined with a newline.' }),
    opened_at: instant.optional().meta({ description: 'Sent with `track_opens`: when its image was first loaded.' }),
  })
  .meta({ id: 'Message' })
export type Message = z.infer<typeof message>

/** Answer of every send (mail 5.6). */
export const sentMessage = z.object({ message_id: messageId, thread_id: threadId }).meta({ id: 'SendMessageResponse' })
export type SentMessage = z.infer<typeof sentMessage>

/** Answer of a batch read (mail 5.6): the messages that were found, in the order of the request, without their bodies. */
export const messageBatch = z
  .object({
    limit: z.int().meta({ description: 'Ids in the request.' }),
    count: z.int().meta({ description: 'Messages that were found.' }),
    messages: z.array(
      message
        .omit({ text: true, html: true, extracted_text: true, extracted_html: true })
        .meta({ id: 'MessageWithoutBodies' }),
    ),
  })
  .meta({ id: 'BatchGetMessagesResponse' })

/** Answer of a label change: the full set after it (mail 5.6). */
export const updatedMessage = z
  .object({ message_id: messageId, labels: z.array(z.string()) })
  .meta({ id: 'UpdateMessageResponse' })
export type UpdatedMessage = z.infer<typeof updatedMessage>

/** Answer of a batch of label changes: the messages that were found, in the order of the request (mail 5.6). */
export const updatedMessages = z
  .object({
    limit: z.int().meta({ description: 'Ids in the request.' }),
    count: z.int().meta({ description: 'Messages that were found.' }),
    updates: z.array(updatedMessage),
  })
  .meta({ id: 'BatchUpdateMessagesResponse' })
