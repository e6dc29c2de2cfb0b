import { isRule, isShown, type Line, type Place, type ReplyEnd } from '../lines/line.ts'
import { isDeviceSignature } from '../vocabulary/devices.ts'
import { isClosing, isContact, isLink } from './endings.ts'
import { isAnnounced } from './pasted.ts'
import { isStandardText } from './standard-text.ts'

/** A signature below two dashes without a space is no longer than this; a divider has more below it. */
const MAX_SIGNATURE_LINES = 15
/** With all its disclaimers a signature has no more lines. */
const MAX_BELOW = 60
const MARK = /^--\s{0,3}$/
/** Words of a sentence, and of one that is no motto. */
const SOME_WORDS = 4
const MANY_WORDS = 16
const POSTSCRIPT =
  /^ *(?:p\.? ?s\.?|p\.? ?d\.?|п\.? ?с\.?|з\.? ?ы\.?|υ\.? ?γ\.?|נ\.? ?ב\.?|追伸|又及|附注|추신) ?[.:,)-]? /u

/** Where the reply ends once its signature is removed too. */
export function placeOfEnd(lines: readonly Line[], end: ReplyEnd): Place {
  if (end.kind !== 'cut') return { line: signatureStart(lines, lines.length), column: 0 }
  const { line, column } = end.place
  const inline = lines[line]?.folded.slice(0, column) ?? ''
  if (inline.trim() !== '' && !isDeviceSignature(inline)) return end.place
  return { line: signatureStart(lines, withoutRules(lines, line)), column: 0 }
}

/**
 * Where the signature at the end of a reply begins, or `end`: a `-- ` line, the signature that a client's markup
 * declares, or one last line such as `Sent from my iPhone`. What a person writes below a letter is content.
 */
function signatureStart(lines: readonly Line[], end: number): number {
  const quote = lines.findLastIndex((line, at) => at < end && line.quoted)
  const last = lastShown(lines, end)
  let divider: string | undefined
  for (let at = quote + 1; at < end; at++) {
    const text = lines[at]?.text ?? ''
    // A letter that is divided with dashes is divided with the same ones further down.
    if (!MARK.test(text) || text === divider) continue
    if (isSignatureMark(lines, at, last + 1)) return at
    divider = text
  }
  const line = lines[last]
  if (line === undefined) return end
  if (line.role === 'signature') return declaredStart(lines, last)
  if (isDeviceSignature(line.folded)) return isAnnounced(lines, last) ? end : last
  const above = lines[last - 1]
  return isLink(line) && above !== undefined && isDeviceSignature(above.folded) ? last - 1 : end
}

/** A line of two dashes unless the letter goes on below; without its space only above a name. */
export function isSignatureMark(lines: readonly Line[], at: number, end: number): boolean {
  const text = lines[at]?.text ?? ''
  if (!MARK.test(text) || isDivider(lines, at, end)) return false
  if (text !== '--') return true
  let below = 0
  for (let next = at + 1; next < end && below <= MAX_SIGNATURE_LINES; next++) {
    if (lines[next]?.blank === false && below++ === 0 && !isNameLike(lines[next])) return false
  }
  return below > 0 && below <= MAX_SIGNATURE_LINES
}

/**
 * Whether the writer's letter goes on below two dashes: below what the markup declares, with a postscript, a long sentence
 * or a question after the first paragraph, or with more dashes or sentences below what does not begin as signatures do.
 * Standard text is none of the writer's.
 */
function isDivider(lines: readonly Line[], at: number, end: number): boolean {
  if (end - at > MAX_BELOW) return true
  const below = lines.slice(at + 1, end)
  if (below.some((line) => POSTSCRIPT.test(line.folded))) return true
  const paragraphs = paragraphsOf(below)
  const [first = [], ...others] = paragraphs
  if (paragraphs.some(isStandardText)) return false
  if (lines[at]?.role === 'signature' && others.some((each) => each.every(({ role }) => role === undefined)))
    return true
  if (
    paragraphs.some((each) => isProse(each, MANY_WORDS)) ||
    others.some((each) => /\? *$/.test(each.at(-1)?.folded ?? ''))
  )
    return true
  const [line] = first
  const isOther = line !== undefined && !isNameLike(line) && !isLink(line)
  const again = below.some(({ text }) => MARK.test(text))
  return (isOther && (again || others.some((each) => isProse(each, SOME_WORDS)))) || (again && lines[at]?.text === '--')
}

function isProse(paragraph: readonly Line[], words: number): boolean {
  const text = paragraph.map((line) => line.folded.trim()).join(' ')
  return text.split(' ', words).length === words && /[.!?]["')]*$/.test(text)
}

/** What blank lines and rules separate. */
function paragraphsOf(lines: readonly Line[]): Line[][] {
  const paragraphs: Line[][] = []
  let isNew = true
  for (const line of lines) {
    if (!isShown(line)) isNew = true
    else if (isNew) paragraphs.push([line])
    else paragraphs.at(-1)?.push(line)
    if (isShown(line)) isNew = false
  }
  return paragraphs
}

/** Index of the last line before `end` that shows something, or -1. */
export function lastShown(lines: readonly Line[], end: number): number {
  return lines.findLastIndex((line, at) => at < end && isShown(line))
}

/** Index after the last line before `end` that is neither blank nor a rule. */
function withoutRules(lines: readonly Line[], end: number): number {
  let after = end
  for (let line = lines[after - 1]; line !== undefined && (line.blank || isRule(line)); line = lines[after - 1]) after--
  return after
}

function declaredStart(lines: readonly Line[], last: number): number {
  let start = last
  while (start > 0 && (lines[start - 1]?.role === 'signature' || lines[start - 1]?.blank === true)) start--
  return start
}

/** A name, a closing or a way to reach somebody: how signatures begin. */
function isNameLike(line: Line | undefined): boolean {
  if (line === undefined) return false
  if (isClosing(line) || isContact(line) || isDeviceSignature(line.folded)) return true
  if (line.text.length > 60 || /[:?!;]|\.$|\d{3}/.test(line.folded)) return false
  const words = line.text.trim().split(/[\s,|/·•-]+/u)
  return (
    words.length <= 7 &&
    words.every(
      (word) =>
        !/^\p{Ll}/u.test(word) ||
        /^(?:de|van|von|der|den|da|di|del|la|le|of|and|und|et|y|e|i|at|für|für|of)$/u.test(word),
    )
  )
}
