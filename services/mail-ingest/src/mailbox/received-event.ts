import { randomUUID } from 'node:crypto'
import { receivedEventType } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { Message, ThreadItem } from '@restante/contracts/resources'
import { LIMITS, SYSTEM_LABELS } from '@restante/contracts/vocabulary'
import type { MailMessageEvent } from './label-log.ts'
import { messageDocument, threadItem } from './rows/documents.ts'
import type { BodyColumns, MessageRow, ThreadRow } from './rows/rows.ts'

type ReceivedMessage = Message & { readonly from_: string }

/** Content of a received event. */
export interface ReceivedContent {
  readonly message: ReceivedMessage
  readonly thread: ThreadItem
}

/** The one received event of a stored mail (events 1.2, 3.1): its type depends on the labels that it is stored with. */
export function receivedEvent(message: MessageRow, body: BodyColumns, thread: ThreadRow): MailMessageEvent {
  const document = { ...messageDocument({ ...message, ...body }), from_: message.sender }
  const content = fitContent({ message: document, thread: threadItem(thread) })
  const id = randomUUID()
  const type = receivedEventType(message.labels)
  const payload = { type: 'event' as const, event_type: type, event_id: id, ...content }
  return topics['mail.messages'].event(type, payload, { id, time: message.created_at, about: message })
}

/** Upper bound for the size of the envelope around the content. */
const ENVELOPE_BYTES = 1_024
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** Steps that make a payload smaller, in the order in which they are applied while it is too large (events 3.1). */
const REDUCTIONS: readonly ((content: ReceivedContent) => ReceivedContent)[] = [
  ({ message: { headers: _, ...message }, thread }) => ({ message, thread }),
  ({ message: { references: _, ...message }, thread }) => ({ message, thread }),
  ({ message, thread }) => ({ message, thread: { ...thread, ...newest({ attachments: thread.attachments }) } }),
  ({ message, thread }) => ({ message, thread: { ...thread, recipients: newestOf(thread.recipients) } }),
  ({ message, thread }) => ({ message, thread: { ...thread, senders: newestOf(thread.senders) } }),
  // The lists of a single message may be as long as its header allows; REST returns all of them.
  ({ message, thread }) => ({ message: { ...message, ...newest({ attachments: message.attachments }) }, thread }),
  ({ message, thread }) => ({
    message: {
      ...message,
      to: newestOf(message.to),
      ...newest({ cc: message.cc, bcc: message.bcc, reply_to: message.reply_to }),
    },
    thread,
  }),
  ({ message: { attachments: _, ...message }, thread: { attachments: __, ...thread } }) => ({ message, thread }),
  // In JSON, each control character of a body takes six bytes.
  ({ message, thread }) => ({ message: withoutBodies(message), thread }),
  ({ message: { cc: _, bcc: __, reply_to: ___, ...message }, thread }) => ({ message, thread }),
  ({ message, thread }) => ({ message, thread: { ...thread, labels: thread.labels.filter(isOfService) } }),
]

/** Omits bodies above 64 KB, then applies the size rule, until the payload is below 900 KB (events 3.1). */
export function fitContent(content: ReceivedContent): ReceivedContent {
  const { message } = content
  const bodies = Buffer.byteLength(message.text ?? '') + Buffer.byteLength(message.html ?? '')
  let fitted = bodies > LIMITS.event.bodies ? { ...content, message: withoutBodies(message) } : content
  for (const reduce of REDUCTIONS) {
    if (bytesOf(fitted) + ENVELOPE_BYTES < LIMITS.event.payload) break
    fitted = reduce(fitted)
  }
  return fitted
}

function isOfService(label: string): boolean {
  return SYSTEM_LABELS.includes(label)
}

function withoutBodies(message: ReceivedMessage): ReceivedMessage {
  const { text: _, html: __, extracted_text: ___, extracted_html: ____, ...rest } = message
  return rest
}

function newestOf<T>(list: readonly T[]): T[] {
  return list.slice(-LIMITS.event.threadList)
}

/** Truncates existing lists; absent ones stay absent. */
function newest<Lists extends Readonly<Record<string, readonly unknown[] | undefined>>>(lists: Lists): Partial<Lists> {
  const cut = Object.entries(lists).flatMap(([name, list]) => (list === undefined ? [] : [[name, newestOf(list)]]))
  return Object.fromEntries(cut)
}
