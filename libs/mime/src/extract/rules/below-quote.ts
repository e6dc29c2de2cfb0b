import { isRule, isShown, type Line, unquoted } from '../lines/line.ts'
import { ADDRESS } from '../vocabulary/dates.ts'
import { isDeviceSignature } from '../vocabulary/devices.ts'
import { anyOf, anyWordOf, wordsOf } from '../vocabulary/match.ts'
import { isBareClosing, isClosing, isContact, isLink, isName } from './endings.ts'
import { isSignatureMark } from './signature.ts'

const FOOTER = new RegExp(anyOf(wordsOf('footer')), 'gu')
const MESSAGE = new RegExp(anyWordOf(wordsOf('message')), 'u')
const LIST = new RegExp(anyOf(wordsOf('list')), 'u')
const COMPANY = new RegExp(anyWordOf(wordsOf('company')), 'gu')
const LINK = new RegExp(`https?://|www\\.|${ADDRESS}`, 'u')
/** A name in a script without capitals. */
const UNCASED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,6}$/u
const MAX_PARAGRAPH = 4_000
/** A shorter paragraph with one phrase of a disclaimer that does not speak of the message may be an answer. */
const MIN_STANDARD = 90
/** Characters that say as much as two others. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
const MAX_SIGNATURE_LINES = 10
const MAX_SIGNATURES = 4
/** Words above a quote that are no more than a greeting: then the answer is below. */
const MAX_GREETING = 4
/** How far into the quote a salutation is looked for. */
const MAX_SALUTATION = 40

/** Wrapped quotes: longer lines are broken at about this width, and the rest loses its mark. */
const WRAPPED_AT = 72
const MAX_QUOTED = 82

/** Where quotes are among the lines. */
export interface QuoteRange {
  /** The first line of the first of them, or of its attribution. */
  readonly first: number
  /** The line below the last of them. */
  readonly below: number
  /** Where the text ends. */
  readonly end: number
}

/**
 * Whether the lines below a quote are not the writer's answer but what stands below every mail: a signature, a name, the
 * footer of a list, a disclaimer, the advertisement of a virus scanner. What is not known to be one of these is an
 * answer.
 */
export function isFooter(lines: readonly Line[], { first, below, end }: QuoteRange): boolean {
  const last = lines.findLastIndex((line, index) => index < end && isShown(line))
  const answers = isGreetingOnly(lines.slice(0, first))
  let at = below
  let names = 0
  while (at < end) {
    const line = lines[at]
    if (line === undefined || isSignatureMark(lines, at, end)) return true
    if (!isShown(line)) {
      if (isRule(line) && at < last) return true
      at++
      continue
    }
    if (line.role === 'signature') return true
    let after = at + 1
    while (after < end && lines[after]?.blank === false) after++
    const paragraph = lines.slice(at, after)
    if (isStandardText(paragraph)) return true
    const isObject = paragraph.every((each) => isLink(each) || isDeviceSignature(each.folded))
    if (!isObject && (answers || names++ >= MAX_SIGNATURES || !isSignature(lines, paragraph, below))) return false
    // Thanks are an answer unless a name follows.
    if (after > last && paragraph.length === 1 && isBareClosing(line)) return false
    at = after
  }
  return true
}

/** Whether an unquoted line inside a quote is the rest of the quoted line above it, which was wrapped. */
export function isWrappedRest(lines: readonly Line[], at: number): boolean {
  const [before, line] = [lines[at - 1], lines[at]]
  if (before === undefined || line === undefined || !before.quoted || line.quoted || line.blank) return false
  const [quote, rest] = [before.folded.trimEnd(), line.folded.trim()]
  if (/^[^ ]{20,}$/.test(rest) && /[/=&%]/.test(rest)) return true
  const word = rest.split(' ', 1)[0] ?? ''
  if (rest.length > MAX_QUOTED / 2 || quote.length > MAX_QUOTED || quote.length + 1 + word.length <= WRAPPED_AT)
    return false
  return !/[.!?:;]["')]*$/.test(quote) && (/^[\p{Ll}\p{Lo}(]/u.test(line.text.trimStart()) || quote.endsWith(','))
}

/** Whether there is nothing but a greeting, below which the quote and the answer follow. */
function isGreetingOnly(above: readonly Line[]): boolean {
  const [greeting, ...others] = above.filter(isShown)
  const text = greeting?.folded.trim() ?? ''
  return others.length === 0 && /[,!:]$/.test(text) && text.split(/ +/).length <= MAX_GREETING
}

function isStandardText(paragraph: readonly Line[]): boolean {
  const text = paragraph
    .slice(0, 60)
    .map((line) => line.folded.trim())
    .join(' ')
    .slice(0, MAX_PARAGRAPH)
  const phrases = new Set([...text.matchAll(FOOTER)].map(([phrase]) => phrase)).size
  const isLong = text.replace(WIDE, '$&$&').length >= MIN_STANDARD
  if (phrases > 0 && (phrases > 1 || isLong || MESSAGE.test(text) || LINK.test(text))) return true
  if (LIST.test(text) && LINK.test(text)) return true
  return new Set([...text.matchAll(COMPANY)].map(([term]) => term)).size >= 2
}

/** A closing with a name, a name with its addresses: what people write below a letter. */
function isSignature(lines: readonly Line[], paragraph: readonly Line[], quote: number): boolean {
  if (paragraph.length > MAX_SIGNATURE_LINES) return false
  return paragraph.every((line, index) => {
    if (isClosing(line) || (index > 0 && isContact(line))) return true
    const name = line.text.trim()
    return (isName(name) || UNCASED.test(name)) && (index > 0 || /\s/.test(name) || isGreeted(lines, name, quote))
  })
}

/** Whether the quoted mail greets this name: a single word below a quote may be an answer too. */
function isGreeted(lines: readonly Line[], name: string, end: number): boolean {
  let looked = 0
  for (const line of lines.slice(0, end)) {
    if (looked > MAX_SALUTATION) return false
    if (!line.quoted || line.blank) continue
    looked++
    const greeting = unquoted(line).folded.trim()
    if (UNCASED.test(name)) {
      if (greeting.startsWith(name)) return true
      continue
    }
    const words = greeting.split(/[ ,!.:]+/)
    if (words.length <= 6 && words.includes(name.toLowerCase()) && /[,!]$/.test(line.folded.trim())) return true
  }
  return false
}
