import { randomUUID } from 'node:crypto'
import type { CallerInbox } from '@restante/contracts/access'
import type { ReplyAllBody, ReplyBody, SendBody } from '@restante/contracts/operations'
import type { Attachment } from '@restante/contracts/resources'
import type { SentCopy } from '@restante/contracts/schemas'
import { LIMITS } from '@restante/contracts/vocabulary'
import {
  type Address,
  type ComposedMail,
  compose,
  type DkimKeys,
  type ForwardBodies,
  formatAddress,
  forwardBodies,
  forwardSubject,
  hasControlCharacter,
  makeMessageId,
  type OpenImage,
  ORIGINAL_NAME,
  type OutgoingAttachment,
  type ReplySource,
  readMailboxes,
  replyBodies,
  replySubject,
  textAsHtml,
  threadingHeaders,
} from '@restante/mime'
import type { Recipients } from '../checks/recipients.ts'

/** The message that is answered or forwarded, and its thread. */
export interface AnsweredMessage {
  readonly threadId: string
  readonly attachments: readonly Pick<Attachment, 'attachment_id' | 'size'>[]
  readonly source: ReplySource
}

export interface NewMessage {
  readonly inbox: CallerInbox
  readonly body: SendBody | ReplyBody | ReplyAllBody
  readonly recipients: Recipients
  readonly replyTo: readonly Address[]
  readonly attachments: readonly OutgoingAttachment[]
  readonly answered: AnsweredMessage | undefined
  /** Whether that message is forwarded; otherwise it is replied to. */
  readonly isForward: boolean
  readonly date: Date
  readonly dkim: DkimKeys | undefined
  /** Whether the inbox is on a domain of the installation, which sets some headers itself. */
  readonly sharedDomain: boolean
  /** How its HTML tells of its opening, if it does. */
  readonly tracking?: { readonly openImage: OpenImage; readonly host: string }
}

/** A composed message and what the mailbox is sent about it in addition to its bytes. */
export interface ComposedMessage {
  readonly id: string
  readonly mail: ComposedMail
  readonly threadId: string
  /** Whether the service puts a link to unsubscribe into the mail of each recipient (mail 15.5). */
  readonly unsubscribable: boolean
  /** Whether it has an image that tells of its opening (mail 15.4). */
  readonly tracked: boolean
  readonly copy: Omit<SentCopy, 'organization_id' | 'pod_id' | 'inbox_uid' | 'take_overs' | 'blob'>
}

interface Bodies {
  readonly text?: string
  readonly html?: string
}

interface Threading {
  readonly references: string[]
  readonly inReplyTo?: string
}

/** Larger texts are omitted from events; the mailbox then extracts them from the bodies itself. */
const EXTRACTED_BYTES = 64 * 1024
/** Of a longer thread the root and the newest messages are named (RFC 5537 3.4.4 allows this). */
const MOST_REFERENCES = 100

/**
 * Composes the message: a new one starts a thread, an answer stays in its thread and quotes the source below the
 * caller's text; a forward too stays there, and has the whole source below (mail 8.3).
 */
export async function composeMessage(message: NewMessage): Promise<ComposedMessage> {
  const { inbox, body, recipients, replyTo, answered, date } = message
  const from: Address = {
    address: inbox.address,
    ...(inbox.display_name !== undefined && { name: inbox.display_name }),
  }
  const answersTo = replyTo.length > 0 ? replyTo.map(display) : replyToHeader(body)
  const messageId = makeMessageId(inbox.address.slice(inbox.address.lastIndexOf('@') + 1))
  const threading = answered && safeThreading(answered.source, message.isForward)
  const subject = body.subject ?? derivedSubject(message)
  const own = ownWords(body)
  const { original, ...bodies } = bodiesOf(message, own)
  const id = randomUUID()
  const mail = await compose({
    from,
    to: recipients.to,
    cc: recipients.cc,
    replyTo,
    ...(subject !== undefined && { subject }),
    ...sentBodies(bodies, message.tracking, id),
    attachments: original === undefined ? message.attachments : [...message.attachments, originalFile(original)],
    headers: customHeaders(message),
    messageId,
    ...threading,
    date,
    ...(message.dkim !== undefined && { dkim: message.dkim }),
  })
  const threadId = answered?.threadId ?? randomUUID()
  return {
    id,
    mail,
    threadId,
    unsubscribable: message.sharedDomain,
    tracked: message.tracking !== undefined,
    copy: {
      message_id: messageId,
      thread_id: threadId,
      timestamp: date.toISOString(),
      from: display(from),
      to: recipients.to.map(display),
      ...(recipients.cc.length > 0 && { cc: recipients.cc.map(display) }),
      ...(recipients.bcc.length > 0 && { bcc: recipients.bcc.map(display) }),
      ...(answersTo.length > 0 && { reply_to: answersTo }),
      ...(subject !== undefined && subject !== '' && { subject }),
      labels: body.labels ?? [],
      ...(threading?.inReplyTo !== undefined && { in_reply_to: threading.inReplyTo }),
      ...(threading && { references: threading.references }),
      ...extracted(message.isForward ? ownInForward(own, bodies) : own),
    },
  }
}

/** On a shared domain unsubscribing is handled by the service (mail 8.2, 15.5); elsewhere by the caller. */
function customHeaders({ body, sharedDomain }: NewMessage): Record<string, string> {
  const given = Object.entries(body.headers ?? {})
  return Object.fromEntries(sharedDomain ? given.filter(([name]) => !/^list-unsubscribe(-post)?$/i.test(name)) : given)
}

/** The addresses of the caller's own Reply-To header, which counts where `reply_to` is absent (mail 8.2). */
function replyToHeader({ headers = {} }: NewMessage['body']): string[] {
  const [, value = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'reply-to') ?? []
  return readMailboxes(value, LIMITS.send.recipients).displays
}

/** Header values taken over into an answer were written by a third party: none may break out of its line. */
export function safeThreading(source: ReplySource, isForward: boolean): Threading | undefined {
  if (hasControlCharacter(source.messageId)) return undefined
  const references = source.references.filter((id) => !hasControlCharacter(id))
  const [root, ...rest] = references
  const kept = root === undefined ? [] : [root, ...rest.slice(-MOST_REFERENCES)]
  const { inReplyTo, references: chain } = threadingHeaders({ ...source, references: kept })
  return { references: chain, ...(!isForward && { inReplyTo }) }
}

/** The subject of an answer or a forward, where the caller gives none. */
export function derivedSubject({
  answered,
  isForward,
}: Pick<NewMessage, 'answered' | 'isForward'>): string | undefined {
  if (!answered) return undefined
  const { subject } = answered.source
  return oneLine(isForward ? forwardSubject(subject) : replySubject(subject))
}

/** The bodies as they leave: with the image that tells of opening, which the sender's own words do not have. */
function sentBodies(bodies: Bodies, tracking: NewMessage['tracking'], id: string): Bodies {
  if (!tracking || bodies.html === undefined) return bodies
  return { ...bodies, html: tracking.openImage.addTo(bodies.html, tracking.host, id) }
}

function bodiesOf({ answered, isForward }: NewMessage, own: Bodies): ForwardBodies {
  if (!answered) return own
  return isForward ? forwardBodies(own, answered.source) : replyBodies(own, answered.source)
}

function originalFile(html: string): OutgoingAttachment {
  return { content: Buffer.from(html), filename: ORIGINAL_NAME, contentType: 'text/html; charset=utf-8' }
}

/**
 * The caller's words in each body that a forward has. Without any the mailbox extracts them, to which what is forwarded
 * is the content of the message.
 */
function ownInForward(own: Bodies, bodies: Bodies): Bodies {
  if (own.html !== undefined || own.text === undefined || bodies.html === undefined) return own
  return { ...own, html: textAsHtml(own.text) }
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
}

function ownWords({ text, html }: { text?: string | undefined; html?: string | undefined }): Bodies {
  return { ...(text !== undefined && { text }), ...(html !== undefined && { html }) }
}

/** What the event of a message says of its text, unless that is too large. */
export function extracted({ text, html }: Bodies): Pick<SentCopy, 'extracted_text' | 'extracted_html'> {
  if (Buffer.byteLength(text ?? '') + Buffer.byteLength(html ?? '') > EXTRACTED_BYTES) return {}
  // An event is measured as JSON, where a control character is six bytes.
  if (Buffer.byteLength(JSON.stringify([text, html])) > 2 * EXTRACTED_BYTES) return {}
  return { ...(text !== undefined && { extracted_text: text }), ...(html !== undefined && { extracted_html: html }) }
}

export function display({ name, address }: Address): string {
  return formatAddress(name, address)
}
