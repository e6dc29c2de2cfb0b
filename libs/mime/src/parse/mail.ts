import { authorOf } from '../addresses/author.ts'
import { readMailboxes } from '../addresses/mailboxes.ts'
import { decodeLines } from '../decode/charset.ts'
import { withoutDirections } from '../decode/directions.ts'
import { decodeWords } from '../decode/encoded-words.ts'
import { unflow } from '../decode/flowed.ts'
import type { TransferEncoding } from '../decode/transfer.ts'
import { parseDate } from '../headers/date.ts'
import { allValues, firstValue, type HeaderField, oneLine } from '../headers/header-fields.ts'
import { messageIdsIn } from '../headers/message-ids.ts'
import type { Budget } from '../limits/limits.ts'
import { chooseBodies } from './bodies.ts'
import { MailDigest } from './digest.ts'
import { contentOf, leavesOf, type Part, piecesOf } from './structure.ts'

/** Evidence that no person wrote this mail, for automatic repliers (RFC 3834). */
export interface Automation {
  /** `auto-generated`, `auto-replied`, ... of Auto-Submitted; absent for `no` and when the header is missing. */
  readonly autoSubmitted?: string
  /** `bulk`, `list` or `junk` of Precedence. */
  readonly precedence?: string
  /** From a mailing list or newsletter (RFC 2369, RFC 2919). */
  readonly list: boolean
}

/** The header of a mail, decoded. */
export interface MailHeader {
  /** Field name as written to decoded value; repeated fields joined with a newline (mail 5.1). */
  readonly headers: Record<string, string>
  /** The address of the one author, its case preserved; absent where `From` does not name exactly one mailbox. */
  readonly author?: string
  /** The author as a display string, or the text of `From`, which cannot be taken for an address; never empty. */
  readonly from: string
  readonly to: string[]
  readonly cc: string[]
  readonly bcc: string[]
  readonly replyTo: string[]
  readonly subject?: string
  /** With angle brackets; absent when the mail has none. */
  readonly messageId?: string
  readonly inReplyTo?: string
  /** All ids of the same field, in their order: it may name several, and a phrase may stand before the one that is meant. */
  readonly answeredIds: string[]
  /** Oldest first. */
  readonly references: string[]
  readonly date?: Date
  readonly automation: Automation
  /** A limit was reached: part of the mail is missing here. */
  readonly truncated: boolean
}

/** One MIME leaf that is not a body. Its bytes stay in the raw mail, from where `decodeTransferStream` decodes them. */
export interface AttachmentInfo {
  /** Offset of its first byte in the raw mail, and of the one after its last. */
  readonly start: number
  readonly end: number
  readonly encoding: TransferEncoding
  readonly filename?: string
  readonly contentType: string
  readonly disposition?: 'inline' | 'attachment'
  /** Without brackets. */
  readonly contentId?: string
  /** Decoded bytes. */
  readonly size: number
}

export interface ParsedMail extends MailHeader {
  readonly text?: string
  readonly html?: string
  readonly attachments: AttachmentInfo[]
  /** SHA-256 (hex) over subject, Reply-To and all decoded parts; equal for copies that took different routes. */
  readonly digest: string
}

/** The content of a mail of this structure. */
export function parseStructure(raw: Buffer, root: Part, budget: Budget): ParsedMail {
  const header = describeHeader(raw, root.fields, budget)
  const digest = new MailDigest()
  digest.add('subject', (header.subject ?? '').replace(/\s+/g, ' '))
  digest.add('reply-to', header.replyTo.join('\n'))
  const bodies = chooseBodies(root)
  const text = readBodies(raw, bodies.text, budget, digest)
  const html = readBodies(raw, bodies.html, budget, digest)
  const shown = new Set([...bodies.text, ...bodies.html])
  const attachments = leavesOf(root).flatMap((leaf) => {
    if (shown.has(leaf)) return []
    const filename = fileName(leaf)
    return describeAttachment(leaf, filename, digest.add(`${leaf.type}\n${filename}`, piecesOf(raw, leaf)))
  })
  return {
    ...header,
    ...(text !== undefined && { text }),
    ...(html !== undefined && { html }),
    attachments,
    digest: digest.end(),
    truncated: budget.truncated,
  }
}

/** The content of a mail's own header. */
export function describeHeader(raw: Buffer, fields: readonly HeaderField[], budget: Budget): MailHeader {
  const addresses = (name: string): string[] => {
    const list = readMailboxes(allValues(fields, name).join(', '), budget.limits.addresses)
    if (list.truncated) budget.truncated = true
    return list.displays
  }
  const author = authorOf(raw, budget.limits)
  const subject = oneLine(withoutDirections(decodeWords(firstValue(fields, 'subject') ?? '')))
  const [messageId] = messageIdsIn(firstValue(fields, 'message-id') ?? '')
  const answeredIds = messageIdsIn(firstValue(fields, 'in-reply-to') ?? '')
  const [inReplyTo] = answeredIds
  const references = messageIdsIn(allValues(fields, 'references').join(' '))
  if (Math.max(answeredIds.length, references.length) > budget.limits.references) budget.truncated = true
  const date = parseDate(firstValue(fields, 'date') ?? '')
  return {
    headers: headerMap(fields),
    ...(author.address !== undefined && { author: author.address }),
    from: author.display,
    to: addresses('to'),
    cc: addresses('cc'),
    bcc: addresses('bcc'),
    replyTo: addresses('reply-to'),
    ...(subject !== '' && { subject }),
    ...(messageId !== undefined && { messageId }),
    ...(inReplyTo !== undefined && { inReplyTo }),
    answeredIds: answeredIds.slice(0, budget.limits.references),
    references: references.slice(-budget.limits.references),
    ...(date !== undefined && { date }),
    automation: automationOf(fields),
    truncated: budget.truncated,
  }
}

function headerMap(fields: readonly HeaderField[]): Record<string, string> {
  const values = new Map<string, { name: string; values: string[] }>()
  for (const { name, value } of fields) {
    const key = name.toLowerCase()
    const entry = values.get(key) ?? { name, values: [] }
    entry.values.push(oneLine(decodeWords(value)))
    values.set(key, entry)
  }
  return Object.fromEntries([...values.values()].map((entry) => [entry.name, entry.values.join('\n')]))
}

function automationOf(fields: readonly HeaderField[]): Automation {
  const word = (name: string): string =>
    firstValue(fields, name)
      ?.split(/[;\s(]/, 1)[0]
      ?.toLowerCase() ?? ''
  const autoSubmitted = word('auto-submitted')
  const precedence = word('precedence')
  const list = fields.some((field) => /^list-(?:id|unsubscribe|post)$/i.test(field.name))
  return {
    ...(autoSubmitted !== '' && autoSubmitted !== 'no' && { autoSubmitted }),
    ...(['bulk', 'list', 'junk'].includes(precedence) && { precedence }),
    list,
  }
}

/** The text of these parts, each on lines of its own, as far as the limit of a body reaches. */
function readBodies(raw: Buffer, parts: readonly Part[], budget: Budget, digest: MailDigest): string | undefined {
  let left = budget.limits.bodyBytes
  const texts = parts.map((part) => {
    const { text, bytes } = readBody(raw, part, left, budget, digest)
    left -= bytes
    return text
  })
  if (texts.length <= 1) return texts[0]
  return texts
    .filter((text) => text !== '')
    .map((text, index, { length }) => (text.endsWith('\n') || index === length - 1 ? text : `${text}\n`))
    .join('')
}

/** The text of a part, of which at most `max` bytes are decoded, and how many were. */
function readBody(
  raw: Buffer,
  part: Part,
  max: number,
  budget: Budget,
  digest: MailDigest,
): { text: string; bytes: number } {
  const decoded = contentOf(raw, part, max)
  const bytes = Math.min(decoded.length, max)
  const text = decodeLines(decoded.subarray(0, bytes), part.parameters.get('charset'))
  // Relays add and remove empty lines at the end.
  digest.add(part.type, text.trimEnd())
  if (decoded.length > max) {
    budget.truncated = true
    digest.add('whole', piecesOf(raw, part))
  }
  if (part.type !== 'text/plain' || part.parameters.get('format')?.toLowerCase() !== 'flowed') return { text, bytes }
  return { text: unflow(text, part.parameters.get('delsp')?.toLowerCase() === 'yes'), bytes }
}

/** A leaf as an attachment with this many decoded bytes. */
function describeAttachment(leaf: Part, filename: string, size: number): AttachmentInfo {
  const disposition = leaf.disposition?.value === 'inline' ? 'inline' : leaf.disposition && 'attachment'
  const contentId = messageIdsIn(firstValue(leaf.fields, 'content-id') ?? '')[0]?.slice(1, -1)
  return {
    start: leaf.bodyStart,
    end: leaf.bodyEnd,
    encoding: leaf.encoding,
    ...(filename !== '' && { filename }),
    contentType: leaf.type,
    ...(disposition !== undefined && { disposition }),
    ...(contentId !== undefined && { contentId }),
    size,
  }
}

/** The last path segment of the given name: a sender must not choose directories. */
function fileName(leaf: Part): string {
  const given = leaf.disposition?.parameters.get('filename') ?? leaf.parameters.get('name') ?? ''
  return oneLine(withoutDirections(given)).split(/[/\\]/).at(-1)?.slice(0, 255).toWellFormed().trim() ?? ''
}
