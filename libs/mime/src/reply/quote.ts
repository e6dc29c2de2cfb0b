import { LIMITS } from '@restante/contracts/vocabulary'
import { bareAddress } from '../addresses/mailboxes.ts'
import { balancedHtml } from '../html/balance.ts'
import { escapeHtml } from '../html/escape.ts'
import { affordableText } from '../html/render.ts'
import type { ReplySource } from './recipients.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const QUOTE_STYLE = 'margin:0 0 0 .8ex;border-left:1px solid #ccc;padding-left:1ex'

type Quoted = Pick<ReplySource, 'from' | 'timestamp' | 'text' | 'html'>

/** Adds `Re: ` before the subject, once (mail 8.3). */
export function replySubject(subject: string | undefined): string {
  const text = subject ?? ''
  return /^re:/i.test(text) ? text : `Re: ${text}`.trim()
}

/** Adds `Fwd: ` before the subject, unless it begins with `Fwd:` or `Fw:` already (mail 8.3). */
export function forwardSubject(subject: string | undefined): string {
  const text = subject ?? ''
  return /^fwd?:/i.test(text) ? text : `Fwd: ${text}`.trim()
}

/**
 * The bodies of an answer: the caller's text with the source quoted below, in the form or forms that the caller gave
 * (mail 8.3). A caller without any body gets none.
 */
export function replyBodies(own: { text?: string; html?: string }, source: Quoted): { text?: string; html?: string } {
  return {
    ...(own.text !== undefined && { text: replyText(own.text, source) }),
    ...(own.html !== undefined && { html: replyHtml(own.html, source) }),
  }
}

/** The caller's text, the attribution line, and the source with `> ` on each line, a blank line between them. */
export function replyText(text: string, source: Quoted): string {
  const quote = wordsOf(source)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
  return `${withoutLastBreaks(text)}\n\n${attribution(source)}\n\n${quote}`
}

/** The caller's html with the source in the quote container that every reply extractor recognises. */
export function replyHtml(html: string, source: Quoted): string {
  const quote =
    `<br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">${escapeHtml(attribution(source))}<br></div>` +
    `<blockquote class="gmail_quote" style="${QUOTE_STYLE}">${htmlOf(source)}</blockquote></div>`
  const end = closingTag(html)
  return html.slice(0, end) + quote + html.slice(end)
}

type Forwarded = Quoted & Pick<ReplySource, 'to' | 'cc' | 'subject'>

/** The bodies of a forward. */
export interface ForwardBodies {
  readonly text?: string
  readonly html?: string
  /** The html of the source, to be attached, where neither body is sure to have all of it. */
  readonly original?: string
}

const FORWARD_LINE = '---------- Forwarded message ---------'
/** The name of the file with the original, which the bodies mention. */
export const ORIGINAL_NAME = 'original.html'
const ATTACHED_LINE = `[The message is attached as ${ORIGINAL_NAME}]`

/**
 * The bodies of a forward: the caller's text with the whole source below it (mail 8.3). A forward keeps the form of its
 * source, so there is html wherever the source or the caller has it, and text unless the caller gives html only. A source
 * that has html alone, of which no part of another page can be made, is also given as it is: its text may be cut.
 */
export function forwardBodies(own: { text?: string; html?: string }, source: Forwarded): ForwardBodies {
  const isHtmlOnly = own.html !== undefined && own.text === undefined
  const isHtml = own.html !== undefined || source.html !== undefined
  const page = insertable(source)
  const isAttached = source.html !== undefined && page === undefined && !source.text?.trim()
  const words = isAttached ? `${wordsOf(source)}\n\n${ATTACHED_LINE}`.trimStart() : wordsOf(source)
  return {
    ...(!isHtmlOnly && { text: forwardText(own.text ?? '', source, words) }),
    ...(isHtml && {
      html: forwardHtml(
        own.html ?? (own.text === undefined ? '' : textAsHtml(own.text)),
        source,
        page ?? textAsHtml(source.html === undefined ? (source.text ?? '') : words),
      ),
    }),
    ...(isAttached && { original: source.html }),
  }
}

/** The caller's text, the forwarded header lines, and the words of the source, a blank line between them. */
function forwardText(text: string, source: Forwarded, words: string): string {
  const above = withoutLastBreaks(text)
  const block = `${FORWARD_LINE}\n${forwardedLines(source).join('\n')}\n\n${words}`
  return above === '' ? block : `${above}\n\n${block}`
}

function forwardHtml(html: string, source: Forwarded, content: string): string {
  const lines = [FORWARD_LINE, ...forwardedLines(source)].map(escapeHtml).join('<br>\n')
  // Not the container of a quote: what is forwarded is the content of this message (mail 14).
  const block = `<br><div class="forwarded_message"><div dir="ltr">${lines}<br></div><br>${content}</div>`
  const end = closingTag(html)
  return html.slice(0, end) + block + html.slice(end)
}

function forwardedLines({ from, timestamp, subject, to, cc }: Forwarded): string[] {
  return [
    `From: ${from}`,
    `Date: ${dateAndTime(timestamp)}`,
    `Subject: ${subject ?? ''}`.trimEnd(),
    `To: ${to.join(', ')}`.trimEnd(),
    ...(cc.length > 0 ? [`Cc: ${cc.join(', ')}`] : []),
  ]
}

/** The text of the source, or of its html where it has no other: a blank text beside html is none. */
function wordsOf({ text, html = '' }: Quoted): string {
  const words = text?.trim() ? text : affordableText(html, LIMITS.mime)
  return withoutLastBreaks(words.replace(/\r\n?/g, '\n'))
}

/** The html of the source, none of which gets out of what it is put into; where that cannot be had, its text. */
function htmlOf(source: Quoted): string {
  if (source.html === undefined) return textAsHtml(source.text ?? '')
  return insertable(source) ?? textAsHtml(wordsOf(source))
}

/** The html of the source, where none of it gets out of what it is put into. */
function insertable({ html }: Quoted): string | undefined {
  return html === undefined ? undefined : balancedHtml(bodyContent(html), LIMITS.mime)
}

/** Plain text as html: escaped, its line breaks kept. */
export function textAsHtml(text: string): string {
  return `<div>${escapeHtml(text).replace(/\r\n?|\n/g, '<br>\n')}</div>`
}

/** `On Mon, Aug 24, 2026 at 2:46 PM UTC sender@host wrote:` */
export function attribution(source: Pick<ReplySource, 'from' | 'timestamp'>): string {
  return `On ${dateAndTime(source.timestamp)} ${bareAddress(source.from)} wrote:`
}

/** `Mon, Aug 24, 2026 at 2:46 PM UTC` */
function dateAndTime(at: Date): string {
  const day = `${DAYS[at.getUTCDay()]}, ${MONTHS[at.getUTCMonth()]} ${at.getUTCDate()}, ${at.getUTCFullYear()}`
  const hour = at.getUTCHours()
  const time = `${hour % 12 || 12}:${String(at.getUTCMinutes()).padStart(2, '0')} ${hour < 12 ? 'AM' : 'PM'}`
  return `${day} at ${time} UTC`
}

/** Where the quote is inserted: before the closing tags of a whole document, otherwise at the end. */
function closingTag(html: string): number {
  const tags = [...html.matchAll(/<\/(body|html)\s*>/gi)]
  const body = tags.findLast((tag) => tag[1]?.toLowerCase() === 'body')
  return (body ?? tags.at(-1))?.index ?? html.length
}

/** The content between the body tags, because a document cannot contain another one. */
function bodyContent(html: string): string {
  const open = html.search(/<body[\s>]/i)
  const start = open < 0 ? 0 : html.indexOf('>', open) + 1
  return html.slice(start, Math.max(start, closingTag(html)))
}

/** Without a pattern: `/\n+$/` takes time quadratic to the longest run of empty lines, which a sender chooses. */
function withoutLastBreaks(text: string): string {
  let end = text.length
  while (text[end - 1] === '\n' || text[end - 1] === '\r') end--
  return text.slice(0, end)
}
