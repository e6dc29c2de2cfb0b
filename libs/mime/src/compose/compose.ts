import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import { type Address, hasControlCharacter } from '../addresses/address.ts'
import { type DkimKeys, sign } from './dkim.ts'
import { dispositionOf, mediaTypeOf } from './file-defaults.ts'
import { headerProblem, isServiceOwnedHeader } from './headers.ts'

/** One file of a mail to be composed. */
export interface OutgoingAttachment {
  readonly content: Buffer
  readonly filename?: string
  /** Default: by the file name, else `application/octet-stream`. */
  readonly contentType?: string
  /** Default `inline` with a content id, else `attachment` (mail 16). */
  readonly disposition?: 'inline' | 'attachment'
  /** Without brackets; html refers to it as `cid:...`. */
  readonly contentId?: string
}

/** A calendar object, which is part of the mail twice: as a form of its text, and as a file (calendar 14.2). */
export interface OutgoingCalendar {
  readonly method: 'REQUEST' | 'CANCEL' | 'REPLY'
  readonly content: string
}

/** A mail to be composed. There is no Bcc: blind recipients belong to the envelope only (mail 6.6). */
export interface OutgoingMail {
  readonly from: Address
  readonly to: readonly Address[]
  readonly cc?: readonly Address[]
  readonly replyTo?: readonly Address[]
  readonly subject?: string
  readonly text?: string
  readonly html?: string
  readonly attachments?: readonly OutgoingAttachment[]
  readonly calendar?: OutgoingCalendar
  /** The caller's headers; those that the service owns are ignored (mail 8.2). */
  readonly headers?: Readonly<Record<string, string>>
  /** Additional headers of the service, such as List-Unsubscribe; they replace the caller's of the same name. */
  readonly serviceHeaders?: Readonly<Record<string, string>>
  /** With angle brackets, like the ids below. */
  readonly messageId: string
  readonly inReplyTo?: string
  /** Oldest first. */
  readonly references?: readonly string[]
  readonly date: Date
  readonly dkim?: DkimKeys
}

/** A value that the composer writes as it is. */
interface Prepared {
  readonly prepared: true
  readonly foldLines: true
  readonly value: string
}

/** A finished RFC 5322 message. */
export interface ComposedMail {
  readonly raw: Buffer
  readonly messageId: string
}

/** A value that must not appear in a header: the caller did not validate it. Names the field, not the value. */
export class UnsafeMailError extends Error {
  readonly field: string

  constructor(field: string) {
    super(`The ${field} of the mail contains characters that a header cannot hold`)
    this.name = 'UnsafeMailError'
    this.field = field
  }
}

/**
 * Composes a message: UTF-8 throughout, long References folded, inline files in multipart/related beside the html,
 * signed when keys are given. The same input gives the same header and bodies (MIME boundaries differ).
 * @throws UnsafeMailError when a header value could break out of its line
 */
export async function compose(mail: OutgoingMail): Promise<ComposedMail> {
  refuseUnsafe(mail)
  const headers = extraHeaders(mail)
  const subject = mail.subject ? [subjectField(mail.subject)] : []
  const written = new Map(headers.map(({ key }) => [key.toLowerCase(), key]))
  const composer = new MailComposer({
    from: toMailbox(mail.from),
    to: mail.to.map(toMailbox),
    cc: (mail.cc ?? []).map(toMailbox),
    // An empty list would remove the caller's own Reply-To header.
    replyTo: mail.replyTo?.length ? mail.replyTo.map(toMailbox) : undefined,
    text: mail.text === undefined ? undefined : canonicalLines(mail.text),
    html: mail.html === undefined ? undefined : canonicalLines(mail.html),
    attachments: (mail.attachments ?? []).map(toAttachment),
    icalEvent: mail.calendar,
    headers: [...subject, ...headers],
    messageId: mail.messageId,
    inReplyTo: mail.inReplyTo,
    references: mail.references === undefined ? undefined : [...mail.references],
    date: mail.date,
    textEncoding: 'quoted-printable',
    // Restores the caller's spelling, which the composer has changed by now.
    normalizeHeaderKey: (key) => written.get(key.toLowerCase()) ?? key,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const raw = await joined(composer.compile().createReadStream(), expectedSize(mail))
  return { raw: mail.dkim === undefined ? raw : await sign(raw, mail.dkim), messageId: mail.messageId }
}

/** Base64 in lines of 76 characters, quoted-printable at its worst, and headers. */
function expectedSize({ attachments = [], text = '', html = '', calendar }: OutgoingMail): number {
  const files = attachments.reduce((sum, { content }) => sum + content.length, 6 * (calendar?.content.length ?? 0))
  return Math.ceil(files * 1.37) + 3 * (text.length + html.length) + 64 * 1024
}

/**
 * The bytes of a stream, each chunk copied into place at once: a list of chunks and their concatenation would be in
 * memory at the same time.
 */
async function joined(stream: Readable, expected: number): Promise<Buffer> {
  let bytes = Buffer.allocUnsafeSlow(expected)
  let size = 0
  for await (const chunk of stream) {
    if (size + chunk.length > bytes.length) bytes = Buffer.concat([bytes.subarray(0, size)], 2 * (size + chunk.length))
    bytes.set(chunk, size)
    size += chunk.length
  }
  return bytes.subarray(0, size)
}

/** A name that no line can hold once it is quoted is cut: it would make the mail one that servers refuse. */
function toMailbox({ name = '', address }: Address): { name: string; address: string } {
  const quoted = name.replace(/["\\]/g, '\\$&')
  return { name: LONG_WORD.test(quoted) ? name.slice(0, CUT_NAME) : name, address }
}

/**
 * Every line ends with CRLF (RFC 5322 2.3): a transport would change any other line end, and then the stored bytes and
 * the signature would differ from what arrives.
 */
function canonicalLines(text: string): string {
  return text.replace(/\r\n?|\n/g, '\r\n')
}

/**
 * The type of a part that only carries a file, whatever the file claims to be: it must not be read as structure of the
 * mail.
 */
const FILE = 'application/octet-stream'
const MESSAGE = /^message\//i
/** Bytes of an encoded word, so that its line has at most 76 characters (RFC 2047 2). */
const ENCODED_WORD = 39
const PIECE = 57 * 1024
/** RFC 5322 2.1.1. */
const LONGEST_LINE = 998
/** A line is folded at blanks only, so these characters, with what may stand beside them, do not fit into one. */
const LONG_WORD = /[!-~]{990}/
const TEXT_FIELD = /^(?:x-|comments$)/i
/** Twice as many, quoted, are no long word. */
const CUT_NAME = 490

/**
 * An attached mail is not encoded (RFC 2046 5.2.1), so its lines have to be fit for transport. Content that claims to
 * be multipart is encoded like any file, so it cannot be one.
 */
function asLeaf({ content, filename, contentType = mediaTypeOf(filename) }: OutgoingAttachment) {
  if (/^multipart\//i.test(contentType)) return { content, contentType: FILE }
  if (!MESSAGE.test(contentType)) return { content, contentType }
  const lines = canonicalLines(content.toString('latin1'))
  const fits = !lines.includes('\0') && lines.split('\r\n').every(({ length }) => length <= LONGEST_LINE)
  return fits ? { content: Buffer.from(lines, 'latin1'), contentType } : { content, contentType: FILE }
}

/**
 * The composer encodes a buffer in one piece and then holds it four times, so it gets large files as a stream of
 * pieces.
 */
function byPieces(content: Buffer): Buffer | Readable {
  return content.length <= PIECE ? content : Readable.from(piecesOf(content))
}

function* piecesOf(content: Buffer): Generator<Buffer> {
  for (let start = 0; start < content.length; start += PIECE) yield content.subarray(start, start + PIECE)
}

function toAttachment(file: OutgoingAttachment) {
  const { content, contentType } = asLeaf(file)
  return {
    contentType,
    content: MESSAGE.test(contentType) ? content : byPieces(content),
    filename: file.filename ?? (false as const),
    contentDisposition: file.disposition ?? dispositionOf(file.contentId),
    cid: file.contentId,
  }
}

function extraHeaders(mail: OutgoingMail): { key: string; value: string | Prepared }[] {
  const own = Object.entries(mail.serviceHeaders ?? {})
  const taken = new Set(own.map(([name]) => name.toLowerCase()))
  if ((mail.replyTo ?? []).length > 0) taken.add('reply-to')
  const custom = Object.entries(mail.headers ?? {}).filter(
    ([name]) => !isServiceOwnedHeader(name) && !taken.has(name.toLowerCase()),
  )
  return [...custom, ...own].map(([key, value]) => ({ key, value: isFoldable(key, value) ? value : encoded(value) }))
}

/** Encoded words are for text only: in a field such as List-Unsubscribe receivers would find nothing (RFC 2047 5). */
function isFoldable(key: string, value: string): boolean {
  return !TEXT_FIELD.test(key) || !LONG_WORD.test(value)
}

/**
 * The composer passes on what looks like an encoded word (RFC 2047), as one that its caller has made. A subject is text
 * as it is to be read, so such a one is encoded here.
 */
function subjectField(subject: string): { key: string; value: string | Prepared } {
  const isFine = !subject.includes('=?') && !LONG_WORD.test(subject)
  return { key: 'Subject', value: isFine ? subject : encoded(subject) }
}

function encoded(text: string): Prepared {
  return { prepared: true, foldLines: true, value: encodedWords(text) }
}

/** Each word has whole characters (RFC 2047 5). */
function encodedWords(text: string): string {
  const words = ['']
  for (const character of text) {
    const longer = `${words.at(-1)}${character}`
    if (Buffer.byteLength(longer) <= ENCODED_WORD) words[words.length - 1] = longer
    else words.push(character)
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')
}

function refuseUnsafe(mail: OutgoingMail): void {
  const refuse = (field: string, values: readonly (string | undefined)[]): void => {
    if (values.some((value) => value !== undefined && hasControlCharacter(value))) throw new UnsafeMailError(field)
  }
  refuse('subject', [mail.subject])
  for (const field of ['to', 'cc', 'replyTo'] as const) {
    refuse(
      field,
      (mail[field] ?? []).flatMap(({ name, address }) => [name, address]),
    )
  }
  refuse('from', [mail.from.name, mail.from.address])
  refuse('messageId', [mail.messageId, mail.inReplyTo, ...(mail.references ?? [])])
  for (const file of mail.attachments ?? []) refuse('attachments', [file.filename, file.contentType, file.contentId])
  for (const [name, value] of Object.entries({ ...mail.headers, ...mail.serviceHeaders })) {
    if (headerProblem(name, value) !== undefined) throw new UnsafeMailError('headers')
  }
}
