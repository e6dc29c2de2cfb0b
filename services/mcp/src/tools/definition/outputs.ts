import { z } from 'zod'

const text = z.string().optional()
const texts = z.array(z.string()).optional()
const attachment = z.looseObject({
  attachmentId: z.string(),
  size: z.number(),
  filename: text,
  contentType: text,
  contentDisposition: text,
  contentId: text,
})
const attachments = z.array(attachment).optional()
const highlights = z.looseObject({ from: texts, recipients: texts, subject: texts, text: texts }).optional()
const paged = { count: z.number(), limit: z.number().optional(), nextPageToken: text }

export const success = z.looseObject({ success: z.literal(true) })

export const inbox = z.looseObject({
  inboxId: z.string(),
  email: z.string(),
  displayName: text,
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export const inboxes = z.looseObject({ ...paged, inboxes: z.array(inbox) })

const threadItem = z.looseObject({
  inboxId: z.string(),
  threadId: z.string(),
  labels: z.array(z.string()),
  timestamp: z.string(),
  senders: z.array(z.string()),
  recipients: z.array(z.string()),
  subject: text,
  preview: text,
  attachments,
  highlights,
  lastMessageId: z.string(),
  messageCount: z.number(),
  size: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export const threads = z.looseObject({ ...paged, threads: z.array(threadItem) })

const authentication = z
  .looseObject({ verdict: z.string() })
  .optional()
  .describe(
    'Of received mail: whether the address in `from` is proven (`pass`, or `internal` within this installation)',
  )

const messageItem = z.looseObject({
  inboxId: z.string(),
  threadId: z.string(),
  messageId: z.string(),
  labels: z.array(z.string()),
  timestamp: z.string(),
  from: z.string(),
  to: texts,
  cc: texts,
  bcc: texts,
  subject: text,
  preview: text,
  attachments,
  highlights,
  inReplyTo: text,
  authentication,
  size: z.number(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export const messages = z.looseObject({ ...paged, messages: z.array(messageItem) })

const body = z
  .looseObject({
    source: z.string(),
    totalChars: z.number(),
    offset: z.number(),
    nextOffset: z.number().optional().describe('There is more: read on with get_message from here'),
    hiddenChars: z.number().optional().describe('Characters of the HTML that nobody would see, left out'),
    unreadChars: z
      .number()
      .optional()
      .describe('Characters that were not read, because there are too many or reading them takes too long'),
    removedChars: z
      .number()
      .optional()
      .describe('Characters that are invisible or change the direction of text, left out'),
  })
  .optional()

/** A message with a part of its body. */
export const message = messageItem.extend({ replyTo: texts, text, extractedText: text, body })
export const thread = threadItem.extend({
  nextPageToken: text,
  messages: z.array(message),
  leftOut: z.number().optional().describe('Messages that are spam, blocked, unauthenticated or trash'),
})
export const waited = z.looseObject({ messages: z.array(message), cursor: z.string() })

export const labels = { labels: z.array(z.string()) }
export const updatedThread = z.looseObject({ threadId: z.string(), ...labels })
export const updatedMessage = z.looseObject({ messageId: z.string(), ...labels })
export const sent = z.looseObject({ messageId: z.string(), threadId: z.string() })

export const attachmentLink = attachment.extend({ downloadUrl: z.string(), expiresAt: z.string(), text })

const draftItem = z.looseObject({
  inboxId: z.string(),
  draftId: z.string(),
  labels: z.array(z.string()),
  to: texts,
  cc: texts,
  bcc: texts,
  subject: text,
  preview: text,
  attachments,
  inReplyTo: text,
  sendStatus: z.enum(['scheduled', 'sending', 'failed']).optional(),
  sendAt: text,
  updatedAt: z.string(),
})
export const drafts = z.looseObject({ ...paged, drafts: z.array(draftItem) })
export const draft = draftItem.extend({ replyTo: texts, text, body, createdAt: z.string() })

export const identity = z.looseObject({
  scopeType: z.enum(['organization', 'pod', 'inbox']),
  scopeId: z.string(),
  organizationId: z.string(),
  podId: text,
  inboxId: text,
  apiKeyId: text,
})

export const events = z.looseObject({
  ...paged,
  events: z.array(z.looseObject({ eventId: z.string(), eventType: z.string() })),
})

const calendarEvent = z.looseObject({ eventId: z.string() })
export const calendarEvents = z.looseObject({ ...paged, events: z.array(calendarEvent) })
export { calendarEvent }
export const busy = z.looseObject({ after: z.string(), before: z.string() })
