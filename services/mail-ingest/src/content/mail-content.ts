import { createHash, randomUUID } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import {
  type AttachmentInfo,
  type MailHeader,
  messageIdFromBytes,
  parseHeadersOnly,
  type ReadMail,
} from '@restante/mime'
import type { StoredAttachment } from '../mailbox/rows/rows.ts'

/** What the mailbox stores of a mail in addition to its bytes, in a form that PostgreSQL can store. */
export interface MailContent {
  readonly from: string
  /** The address that `from` shows; undefined where the mail does not name exactly one author. */
  readonly author: string | undefined
  readonly to: readonly string[]
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly replyTo: readonly string[]
  readonly subject: string | null
  /** From the mail's own header, or derived from its bytes (mail 2). */
  readonly messageId: string
  readonly inReplyTo: string | null
  /** All ids of `In-Reply-To`, the first of which is shown. */
  readonly answeredIds: readonly string[]
  readonly references: readonly string[]
  readonly date: Date | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
  readonly html: string | null
  readonly extractedText: string | null
  readonly extractedHtml: string | null
  /** What the html shows, where no text is beside it: a blank text counts as none. Empty where it shows no words. */
  readonly searchText: string | null
  readonly preview: string | null
  readonly attachments: readonly StoredAttachment[]
  /** Digest of the decoded body; of the bytes when it could not be decoded. */
  readonly digest: string
  /** False when parsing failed permanently: then only the header is filled in, as far as it could be read. */
  readonly parsed: boolean
}

/** Longest display name and file name that is kept, so that an event with many of them stays below its size limit. */
const NAME_LENGTH = 500
const HEADER_BYTES = 256 * 1024
/** What the parser shows for a mail without `From` (mail 13). The return path is no statement about the author. */
const NO_SENDER = '(no sender)'

/** The content of a fully parsed mail. */
export function contentOf(mail: ReadMail, raw: Buffer): MailContent {
  return {
    ...headerContent(mail, raw),
    text: optional(mail.text),
    html: optional(mail.html),
    extractedText: optional(mail.extractedText),
    extractedHtml: optional(mail.extractedHtml),
    searchText: mail.html === undefined || mail.text?.trim() ? null : optional(mail.searchText),
    preview: optional(mail.preview),
    attachments: mail.attachments.map(storedAttachment),
    digest: mail.digest,
    parsed: true,
  }
}

/** The content of a mail that cannot be parsed: its readable headers (mail 13; architecture: stored unparsed). */
export function unparsedContent(raw: Buffer): MailContent {
  return withoutBodies(headerContent(parseHeadersOnly(raw.subarray(0, HEADER_BYTES)), raw), raw)
}

/** The content of a mail that could not be stored with its headers either. */
export function bareContent(raw: Buffer): MailContent {
  const header = { from: NO_SENDER, headers: {}, to: [], cc: [], bcc: [], replyTo: [], answeredIds: [], references: [] }
  return withoutBodies(headerContent(header, raw), raw)
}

type HeaderContent = Omit<
  MailContent,
  'text' | 'html' | 'extractedText' | 'extractedHtml' | 'searchText' | 'preview' | 'attachments' | 'digest' | 'parsed'
>

function withoutBodies(header: HeaderContent, raw: Buffer): MailContent {
  return {
    ...header,
    text: null,
    html: null,
    extractedText: null,
    extractedHtml: null,
    searchText: null,
    preview: null,
    attachments: [],
    digest: createHash('sha256').update(raw).digest('hex'),
    parsed: false,
  }
}

function headerContent(header: Omit<MailHeader, 'automation' | 'truncated'>, raw: Buffer): HeaderContent {
  const messageId = header.messageId === undefined ? undefined : storable(header.messageId)
  return {
    from: name(header.from),
    author: header.author,
    to: header.to.map(name),
    cc: header.cc.map(name),
    bcc: header.bcc.map(name),
    replyTo: header.replyTo.map(name),
    subject:
      header.subject === undefined ? null : storable(header.subject).slice(0, LIMITS.send.subject).toWellFormed(),
    messageId: messageId ?? messageIdFromBytes(raw),
    inReplyTo: optional(header.inReplyTo),
    answeredIds: header.answeredIds.map(storable),
    references: header.references.map(storable),
    date: header.date,
    headers: Object.fromEntries(Object.entries(header.headers).map(([key, value]) => [storable(key), storable(value)])),
  }
}

function storedAttachment(attachment: AttachmentInfo): StoredAttachment {
  const { start, end, encoding, filename, contentType, disposition, contentId, size } = attachment
  return {
    attachment_id: randomUUID(),
    start,
    end,
    encoding,
    size,
    ...(filename !== undefined && { filename: name(filename) }),
    content_type: name(contentType),
    ...(disposition !== undefined && { content_disposition: disposition }),
    ...(contentId !== undefined && { content_id: name(contentId) }),
  }
}

/** A name in one line, of limited length. */
function name(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, NAME_LENGTH)
    .toWellFormed()
}

function optional(text: string | undefined): string | null {
  return text === undefined ? null : storable(text)
}

/** Text in a form that PostgreSQL and JSON can store: without NUL and without broken surrogate pairs. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
