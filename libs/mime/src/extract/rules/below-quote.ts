import { ADDRESS } from '../vocabulary/dates.ts'
import { isDeviceSignature } from '../vocabulary/devices.ts'
import { anyOf, anyWordOf, wordsOf } from '../vocabulary/match.ts'
import { isRule, isShown, type Line, unquoted } from './line.ts'
import { isSignatureMark } from './signature.ts'

const FOOTER = new RegExp(anyOf(wordsOf('footer')), 'u')
const LIST = new RegExp(anyOf(wordsOf('list')), 'u')
const COMPANY = new RegExp(anyWordOf(wordsOf('company')), 'gu')
const CLOSING = new RegExp(`^[ *_]*${anyOf(wordsOf('closing'))}(?![\\p{L}\\p{N}])[ *_,.!]{0,4}`, 'u')
const LINK = new RegExp(`https?://|www\\.|${ADDRESS}`, 'u')
/** An image or a link alone. */
const OBJECT = /^ *(?:\[(?:cid|image|logo|https?)[^\]]{0,300}\]|[<[(]?(?:https?:\/\/|www\.)[^ ]{1,500}|\ufffc)+ *$/u

const MAX_PARAGRAPH = 4_000
const MAX_NAME_LINES = 4
const MAX_NAMES = 3
/** How far into the quote a salutation is looked for. */
const MAX_SALUTATION = 40

/** Wrapped quotes: longer lines are broken at about this width, and the rest loses its mark. */
const WRAPPED_AT = 72
const MAX_QUOTED = 82

/**
 * Whether the lines below a quote are not the writer's answer but what stands below every mail: a signature, a name, the
 * footer of a list, a disclaimer, the advertisement of a virus scanner. What is not known to be one of these is an
 * answer.
 */
export function isFooter(lines: readonly Line[], from: number, end: number): boolean {
  const last = lines.findLastIndex((line, index) => index < end && isShown(line))
  let at = from
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
    if (names++ >= MAX_NAMES || !isNameOrObject(lines, paragraph, from)) return false
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

function isStandardText(paragraph: readonly Line[]): boolean {
  const text = paragraph
    .slice(0, 60)
    .map((line) => line.folded.trim())
    .join(' ')
    .slice(0, MAX_PARAGRAPH)
  if (FOOTER.test(text) || (LIST.test(text) && LINK.test(text))) return true
  return new Set([...text.matchAll(COMPANY)].map(([term]) => term)).size >= 2
}

function isNameOrObject(lines: readonly Line[], paragraph: readonly Line[], from: number): boolean {
  if (paragraph.every((line) => OBJECT.test(line.folded.slice(0, 600)) || isDeviceSignature(line.folded))) return true
  if (paragraph.length > MAX_NAME_LINES) return false
  return paragraph.every((line, index) => {
    const closing = CLOSING.exec(line.folded)
    const name = line.text.slice(closing?.[0].length ?? 0).trim()
    if (closing !== null) return name === '' || isName(name)
    return isName(name) && (index > 0 || wordsOfName(name) > 1 || isGreeted(lines, name, from))
  })
}

function isName(text: string): boolean {
  return (
    text.length <= 40 &&
    /^(?:\p{Lu}[\p{L}.'’-]*(?:\s(?:de|van|von|der|den|da|di|del|la|le|bin|al|el)(?=\s))*(?:\s|$)){1,4}$/u.test(text)
  )
}

function wordsOfName(name: string): number {
  return name.split(/\s+/).length
}

/** Whether the quoted mail greets this name: a single word below a quote may be an answer too. */
function isGreeted(lines: readonly Line[], name: string, end: number): boolean {
  let looked = 0
  for (const line of lines.slice(0, end)) {
    if (!line.quoted || line.blank || looked++ > MAX_SALUTATION) continue
    const words = unquoted(line)
      .folded.trim()
      .split(/[ ,!.:]+/)
    if (words.length <= 6 && words.includes(name.toLowerCase()) && /[,!]$/.test(line.folded.trim())) return true
  }
  return false
}
