import { isRule, isShown, type Line, type Place, type ReplyEnd } from '../lines/line.ts'
import { isDeviceSignature } from '../vocabulary/devices.ts'
import { isClosing, isContact, isLink } from './endings.ts'

/** A signature below two dashes without a space is no longer than this; a divider has more below it. */
const MAX_SIGNATURE_LINES = 15

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
  for (let at = quote + 1; at < end; at++) {
    if (isSignatureMark(lines, at, end)) return at
  }
  const last = lastShown(lines, end)
  const line = lines[last]
  if (line === undefined) return end
  if (line.role === 'signature') return declaredStart(lines, last)
  if (isDeviceSignature(line.folded)) return last
  const above = lines[last - 1]
  return isLink(line) && above !== undefined && isDeviceSignature(above.folded) ? last - 1 : end
}

/** A line of two dashes: with its space always, without it only above a name. */
export function isSignatureMark(lines: readonly Line[], at: number, end: number): boolean {
  const text = lines[at]?.text ?? ''
  if (/^--\s{1,3}$/.test(text)) return true
  if (text !== '--') return false
  let below = 0
  for (let next = at + 1; next < end && below <= MAX_SIGNATURE_LINES; next++) {
    if (lines[next]?.blank === false && below++ === 0 && !isNameLike(lines[next])) return false
  }
  return below > 0 && below <= MAX_SIGNATURE_LINES
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
