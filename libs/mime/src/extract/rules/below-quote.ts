import { isRule, isShown, type Line, unquoted } from '../lines/line.ts'
import { isDeviceSignature } from '../vocabulary/devices.ts'
import { isBareClosing, isClosing, isContact, isLink, isName } from './endings.ts'
import { isSignatureMark } from './signature.ts'
import { isStandardText } from './standard-text.ts'

/** A name in a script without capitals. */
const UNCASED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,6}$/u
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
    if (line === undefined || isSignatureMark(lines, at, last + 1)) return true
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
