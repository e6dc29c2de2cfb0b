import { type RenderedLine, renderLines } from '../html/render.ts'
import type { SkippedRange } from '../html/simplify.ts'
import { type HtmlElement, walkHtml } from '../html/walk.ts'
import { isForwardMark } from './markers.ts'
import { replyEnd } from './text.ts'

/** The role of an element with the markup of a known client. */
type Role =
  /** Quoted history. */
  | 'quote'
  /** Quoted history that extends to the end of the document. */
  | 'rest'
  /** A signature. */
  | 'signature'
  /** The line above Thunderbird's quote; the next blockquote belongs to it. */
  | 'prefix'
  /** A forwarded message: content, with all its quotes. */
  | 'forward'

const QUOTE_CLASSES =
  /(?:^|\s)(?:gmail_quote(?:_container)?|yahoo_quoted|protonmail_quote|tutanota_quote|zmail_extra)(?:\s|$)/
const SIGNATURE_CLASSES =
  /(?:^|\s)(?:gmail_signature(?:_prefix)?|moz-signature|protonmail_signature_block(?:-user)?)(?:\s|$)/
const REST_IDS = new Set(['divRplyFwdMsg', 'appendonsend', 'mail-editor-reference-message-container'])
const SIGNATURE_IDS = new Set(['AppleMailSignature', 'ms-outlook-mobile-signature'])

/**
 * This many quoted lines count as history even without an attribution; they replace a removed quote for the text rules.
 */
const QUOTE_STAND_IN = ['>', '>', '>']

/** Length of a quote's beginning that is examined to see whether it is a forwarded message. */
const LOOK_AHEAD = 200

/**
 * `extractReply` for html: drops the quotes of known clients by their markup (mail 14), then applies the text rules to
 * what is rendered. Without anything to strip the html is returned as it is, trimmed. Linear in its length.
 */
export function extractReplyHtml(html: string): string {
  const { ranges, forwards } = markedRanges(html)
  const lines = renderLines(html, ranges)
  const end = forwards ? lines.length : replyEnd(lines.map((line) => line.text))
  const kept = lines.slice(0, end)
  if (ranges.length === 0 && kept.length === lines.length) return html.trim()
  const shown = kept.findLast((line) => isShown(line))
  return shown === undefined ? '' : cut(html, ranges, shown.end)
}

/**
 * The source ranges that client markup declares not to be this message's own words, ascending and disjoint, and whether
 * it forwards a message: then nothing else is history.
 */
function markedRanges(html: string): { ranges: SkippedRange[]; forwards: boolean } {
  const ranges: SkippedRange[] = []
  let forwards = false
  let current: { element: HtmlElement; role: Role; text: string } | undefined
  let before = ''
  let prefixed = false
  let seen = false
  let rest = -1
  walkHtml(html, {
    open(element) {
      if (current !== undefined || rest >= 0 || element.empty) return
      const role = prefixed && element.name === 'blockquote' ? 'quote' : roleOf(element)
      if (role === undefined) return
      // With nothing above it the rest is the whole content: a forwarded message.
      if (role === 'rest' && seen) rest = element.start
      else if (role !== 'rest') current = { element, role, text: before }
      prefixed = false
    },
    text(value) {
      if (value.trim() === '') return
      if (current === undefined) {
        seen = true
        prefixed = false
        before = isForwardMark(value) ? value : ''
      } else if (current.text.length < LOOK_AHEAD) current.text += value
    },
    close(element, end) {
      if (current === undefined || current.element !== element || rest >= 0) return
      const { role, text } = current
      prefixed = role === 'prefix'
      before = ''
      const forward = role === 'forward' || (role === 'quote' && isForwardMark(text))
      if (!forward) ranges.push(skipped(element.start, end, role))
      forwards ||= forward
      current = undefined
    },
  })
  if (rest >= 0) ranges.push(skipped(rest, html.length, 'rest'))
  return { ranges, forwards }
}

function skipped(start: number, end: number, role: Role): SkippedRange {
  return { start, end, standIn: role === 'signature' ? [] : QUOTE_STAND_IN }
}

function roleOf(element: HtmlElement): Role | undefined {
  const classes = element.attributes.get('class') ?? ''
  const id = element.attributes.get('id') ?? ''
  if (/(?:^|\s)moz-forward-container(?:\s|$)/.test(classes)) return 'forward'
  if (/(?:^|\s)moz-cite-prefix(?:\s|$)/.test(classes) || id === 'reply-intro') return 'prefix'
  if (QUOTE_CLASSES.test(classes) || id === 'OLK_SRC_BODY_SECTION') return 'quote'
  if (element.name === 'blockquote' && element.attributes.get('type')?.toLowerCase() === 'cite') return 'quote'
  if (REST_IDS.has(id)) return 'rest'
  if (SIGNATURE_CLASSES.test(classes) || SIGNATURE_IDS.has(id)) return 'signature'
  return undefined
}

function isShown(line: RenderedLine): boolean {
  return line.text.replace(/[>\s]/g, '') !== ''
}

/** The html up to an offset without the ranges, with all open elements closed there. */
function cut(html: string, ranges: readonly SkippedRange[], offset: number): string {
  let out = ''
  let from = 0
  for (const { start, end } of ranges) {
    if (start >= offset) break
    out += html.slice(from, start)
    from = end
  }
  out += html.slice(from, offset)
  const open: string[] = []
  walkHtml(html.slice(0, offset), {
    open: (element) => void (element.empty || open.push(element.name)),
    close: (_, end) => void (end < offset && open.pop()),
  })
  return (
    out.trim() +
    open
      .toReversed()
      .map((name) => `</${name}>`)
      .join('')
  )
}
