import { attributionAt } from '../attribution/attributions.ts'
import { isRule, type Line, nextShown } from '../lines/line.ts'
import { ADDRESS, DATE, TIME } from '../vocabulary/dates.ts'
import { anyOf, anyWordOf, wordsOf } from '../vocabulary/match.ts'

type Kind = 'from' | 'sent' | 'date' | 'to' | 'subject'

const KINDS: readonly Kind[] = ['from', 'sent', 'date', 'to', 'subject']
/** A header with all its recipients wrapped takes no more lines. */
const MAX_HEADER = 16
/** Only the beginning of a line decides what it is. */
const MAX_LABEL = 160
const MAX_BARE = 60
const MAX_REPLY_ABOVE = 100

const ORIGINAL = anyOf(wordsOf('original'))
/** Two dashes alone begin the item of a list too. */
const DASHED_ORIGINAL = new RegExp(
  `(?<![-=_])(?:[-=_]{3,60} {0,5}${ORIGINAL}|[-=_]{2} {0,5}${ORIGINAL} {0,5}[-=_]{2})`,
  'u',
)
const INLINE_ORIGINAL = new RegExp(`(?<![-=_])[-=_]{3,60} {0,5}${ORIGINAL} {0,5}[-=_]{3}`, 'u')
const LABELS: Readonly<Record<Kind, string>> = {
  from: anyOf(wordsOf('from')),
  sent: anyOf(wordsOf('sent')),
  date: anyOf(wordsOf('date')),
  to: anyOf(wordsOf('to')),
  subject: anyOf(wordsOf('subject')),
}
const INLINE_FIELD = new RegExp(`^(?:${KINDS.map((kind) => LABELS[kind]).join('|')}) ?:`, 'u')
const BARE_ORIGINAL = new RegExp(`^[ *]*${ORIGINAL}[ *:]*$`, 'u')
const FORWARDED = new RegExp(
  `^[ *>]{0,8}(?:[-=_*~]{2,80} {0,5}${anyOf(wordsOf('forwarded'))}|"?${anyOf(wordsOf('forwardBegins'))} ?:)`,
  'u',
)
/** GroupWise puts the name and the date between marks, and quotes without any. */
const BETWEEN_MARKS = /^ *>>> .{3,200} >>> *$/
const DASHED = /^[ *>]{0,8}[-=_~]{3,80} {0,5}[^-=_~ ][^-=_~]{1,80}[-=_~]{3,80}[ *]*$/
/** What a ticket system asks for: by itself at the beginning of a short line, or in other words after marks. */
const REPLY_ABOVE_FIRST = new RegExp(`^.{0,12}${anyOf(wordsOf('replyAbove'))}`, 'u')
const REPLY_ABOVE_MARKED = new RegExp(
  `^ {0,80}(?=([-#=*_>~([{]{1,80}))\\1.{0,60}${anyOf(wordsOf('replyAbove', 'aboveLine'))}`,
  'u',
)

const LABEL_OF = new Map(
  KINDS.map((kind) => [kind, new RegExp(`^[ *_|>]{0,8}${LABELS[kind]} {0,12}[*_]{0,2} ?[:|]`, 'u')]),
)
/** Clients capitalise labels; programs and their settings do not. */
const UNCAPITALISED = /^[^\p{L}]*\p{Ll}/u
/** Zendesk's mark, in any language: a sentence, not the words of a log. */
const BETWEEN_HASHES = /^ *#{2,}- *(?:[^\d ]+(?: [^\d ]+){3,20}|[^\d]{0,40}[\p{Lo}]{8}[^\d]{0,60}) *-#{2,} *$/u
/** Orange does not either, but sets the colon apart, as people do in French. */
const COLON_APART = /^[^:|]{0,20}\s:/u
/** Orange writes a date without a colon. */
const MESSAGE_OF = /^[ *]{0,4}message du {1,3}\d/
const ANY_LABEL = new RegExp(KINDS.map((kind) => `(?<${kind}>${anyWordOf(wordsOf(kind))} ?:)`).join('|'), 'gu')
const FROM_IN = new RegExp(`(?<![\\p{L}\\p{N}])${anyOf(wordsOf('from'))} ?:`, 'gu')
const DATED = new RegExp(DATE, 'u')
const TIMED = new RegExp(TIME, 'u')
const ADDRESSED = new RegExp(ADDRESS, 'u')

/** The line above a forwarded message, which is content (mail 14). */
export function isForwardMark(line: Line): boolean {
  return FORWARDED.test(line.folded.slice(0, MAX_LABEL))
}

/**
 * The column of this line from which on everything is an earlier message, whether or not it is quoted: a line such as
 * `-----Original Message-----`, a header, the mark of a ticket system.
 * @returns undefined when there is none
 */
export function historyAt(lines: readonly Line[], at: number): number | undefined {
  const line = lines[at]
  if (line === undefined) return undefined
  const start = line.folded.slice(0, 4 * MAX_LABEL)
  if (isOriginalMark(lines, at, start) || isReplyMark(start)) return goesOnBelow(lines, at) ? undefined : 0
  if (isRule(line)) return isRuleOverHeader(lines, at) ? 0 : undefined
  if (isHeader(lines, at, false)) return 0
  return inlineMark(line)
}

/** A line of GroupWise above what it quotes. */
export function isBetweenMarks(line: Line): boolean {
  return BETWEEN_MARKS.test(line.folded.slice(0, 2 * MAX_LABEL)) && DATED.test(line.folded)
}

/** A header that begins on this line; `trusted` when a rule stands above it. */
export function isHeader(lines: readonly Line[], at: number, trusted: boolean): boolean {
  if (kindOf(lines[at]) === undefined) return false
  const fields = readHeader(lines, at)
  if (!trusted && UNCAPITALISED.test(lines[at]?.text.slice(0, MAX_LABEL) ?? '')) return isOfOrange(fields)
  return isMessageHeader(fields, trusted)
}

/** A header that begins on this line and, like those of messages and unlike those of clients, has no field for `Sent`. */
export function isUnsentHeader(lines: readonly Line[], at: number): boolean {
  return kindOf(lines[at]) !== undefined && !readHeader(lines, at).has('sent')
}

function isOriginalMark(lines: readonly Line[], at: number, start: string): boolean {
  const original = DASHED_ORIGINAL.exec(start)
  if (original !== null && start.slice(0, original.index).trim() === '') return true
  const next = nextShown(lines, at + 1)
  if (start.length < MAX_BARE && BARE_ORIGINAL.test(start)) return readHeader(lines, next).size >= 2
  return DASHED.test(start) && isHeader(lines, next, true)
}

function isReplyMark(start: string): boolean {
  if (/^ *[-#=*_>~([{]/.test(start)) return BETWEEN_HASHES.test(start) || REPLY_ABOVE_MARKED.test(start)
  const mark = start.length <= MAX_REPLY_ABOVE ? REPLY_ABOVE_FIRST.exec(start) : null
  return mark !== null && !/^ (?!to )\p{L}/u.test(start.slice(mark[0].length))
}

function isRuleOverHeader(lines: readonly Line[], at: number): boolean {
  const next = nextShown(lines, at + 1)
  if (next - at > 3 || lines[next]?.quoted !== lines[at]?.quoted) return false
  return isHeader(lines, next, true) || isAboveAttribution(lines, next)
}

/** Yandex puts the recipient and the subject above the attribution. */
function isAboveAttribution(lines: readonly Line[], at: number): boolean {
  let next = at
  while (next < at + MAX_HEADER && kindOf(lines[next]) !== undefined) next++
  return next > at && attributionAt(lines, next)?.strength === 'certain'
}

/** Which field of a header a line is. */
function kindOf(line: Line | undefined): Kind | undefined {
  if (line === undefined || line.blank) return undefined
  const start = line.folded.slice(0, MAX_LABEL)
  if (MESSAGE_OF.test(start)) return 'sent'
  if (!/[:|]/.test(start) || (UNCAPITALISED.test(line.text.slice(0, MAX_LABEL)) && !COLON_APART.test(start)))
    return undefined
  return KINDS.find((kind) => LABEL_OF.get(kind)?.test(start))
}

/** Whether the writer's sentence goes on below a mark: it speaks of the mark itself. */
function goesOnBelow(lines: readonly Line[], at: number): boolean {
  const next = lines[nextShown(lines, at + 1)]
  return (
    next !== undefined && !next.quoted && /^\s*\p{Ll}/u.test(next.text) && !INLINE_FIELD.test(next.folded.trimStart())
  )
}

/** The fields of a header from this line on, with what they say. Fields may be wrapped, and set apart as paragraphs. */
function readHeader(lines: readonly Line[], at: number): Map<Kind, string> {
  const fields = new Map<Kind, string>()
  let last: Kind | undefined
  let others = 0
  for (let next = at; next < lines.length && next < at + MAX_HEADER; next++) {
    const line = lines[next]
    if (line === undefined || line.quoted !== lines[at]?.quoted) break
    const kind = kindOf(line)
    if (line.blank) {
      if (last === 'subject' || kindOf(lines[nextShown(lines, next)]) === undefined) break
    } else if (kind !== undefined) {
      if (fields.has(kind) && kind !== 'to') break
      if (!fields.has(kind)) fields.set(kind, line.folded.slice(0, 2 * MAX_LABEL))
      last = kind
      others = 0
    } else {
      if (last !== undefined && last !== 'subject')
        fields.set(last, `${fields.get(last)} ${line.folded.slice(0, MAX_LABEL)}`)
      if (++others > 3) break
    }
  }
  return fields
}

/**
 * Whether these are the fields of a message, which nearly always say when it was sent: forms, filters and bookings have labels
 * like them. A trip goes from a town to another on a date, but has neither a subject nor addresses; a memo has a subject
 * and a day, but no time. A single sign is not enough: a time, an address, and that clients begin with the sender.
 */
function isMessageHeader(fields: ReadonlyMap<Kind, string>, trusted: boolean): boolean {
  const [from, to] = [fields.get('from'), fields.get('to')]
  const date = fields.get('sent') ?? fields.get('date')
  const isDated = date !== undefined && DATED.test(date)
  const isTimed = isDated && TIMED.test(date.replace(DATED, ' '))
  const isAddressed = (field: string | undefined): boolean => field !== undefined && ADDRESSED.test(field)
  const hasAddress = isAddressed(from) || isAddressed(to)
  const order = [...fields.keys()].join(' ')
  const signs = [isTimed, hasAddress, order.startsWith('from')].filter((sign) => sign).length
  // What was sent, and to whom, is written in words; when, in digits or as a day.
  const saysWhen = /\d|^[^:]{1,30}:[ *]*\p{L}+ *$/u.test(fields.get('sent') ?? '')
  const isSent = saysWhen || (isDated && signs >= 2)
  if (from !== undefined && fields.has('subject') && isSent && (to !== undefined || hasAddress || saysWhen)) return true
  if (isAddressed(from) && (isTimed || (isDated && saysWhen))) return true
  if (from !== undefined && to !== undefined && saysWhen) {
    return (isDated && hasAddress) || (isTimed && order === 'from sent to')
  }
  if (isTimed && isAddressed(to)) return true
  return trusted && isAddressed(from) && (date !== undefined || fields.has('subject'))
}

/** Whether there is all that Orange writes, which settings, and what people type, seldom have. */
function isOfOrange(fields: ReadonlyMap<Kind, string>): boolean {
  const [from = '', sent = ''] = [fields.get('from'), fields.get('sent')]
  return ADDRESSED.test(from) && TIMED.test(sent) && fields.has('to') && fields.has('subject')
}

/** A header whose lines were joined. */
function isOneLineHeader(folded: string): boolean {
  if (folded.split(':', 4).length < 4) return false
  const start = folded.slice(0, 4 * MAX_LABEL)
  if (!DATED.test(start) || !(TIMED.test(start) || ADDRESSED.test(start))) return false
  const kinds = kindsIn(start)
  return kinds.has('from') && (kinds.has('sent') || kinds.has('date')) && (kinds.has('to') || kinds.has('subject'))
}

function kindsIn(text: string): Set<Kind> {
  const found = new Set<Kind>()
  for (const { groups = {} } of text.matchAll(ANY_LABEL)) {
    const kind = KINDS.find((each) => groups[each] !== undefined)
    if (kind !== undefined) found.add(kind)
  }
  return found
}

/** The column of a mark, or of a header in one line, that begins after words of the writer. */
function inlineMark(line: Line): number | undefined {
  const original = line.folded.includes('---') ? INLINE_ORIGINAL.exec(line.folded) : null
  if (original !== null) {
    // In the middle of a sentence the writer speaks of the mark itself.
    const after = line.folded.slice(original.index + original[0].length).replace(/^[-=_ *]{1,80}/, '')
    return after === '' || INLINE_FIELD.test(after.slice(0, MAX_LABEL)) ? original.index : undefined
  }
  if (!line.folded.includes('@') || line.folded.split(':', 5).length < 5) return undefined
  let tries = 0
  for (const { index } of line.folded.matchAll(FROM_IN)) {
    if (tries++ >= 4) return undefined
    const isCapital = !/\p{Ll}/u.test(line.text[index] ?? '')
    const header = line.folded.slice(index, index + 4 * MAX_LABEL)
    if (isCapital && isOneLineHeader(header)) return index
  }
  return undefined
}
