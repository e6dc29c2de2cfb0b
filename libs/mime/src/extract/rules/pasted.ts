import { attributionAt } from '../attribution/attributions.ts'
import { isRule, type Line, nextShown } from '../lines/line.ts'
import { isDeviceSignature } from '../vocabulary/devices.ts'
import { isBareClosing, isClosing, isName } from './endings.ts'

/** Fewer words are a greeting or a closing, not a sentence. */
const MIN_WORDS = 3
/** Scripts without spaces between words say as much in so many characters. */
const MIN_UNSPACED = 8
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu
const MAX_LENGTH = 400
/** How many blank lines may stand above what is announced. */
const MAX_BLANKS = 8
const MAX_SIGNATURE_LINES = 12

/** Fields that no client shows above what it quotes. */
const RAW_FIELD =
  /^ *(?:return-path|received|message-id|mime-version|delivered-to|envelope-to|dkim-signature|authentication-results|content-type|content-transfer-encoding|user-agent|list-id|in-reply-to|references|x-[a-z][a-z-]{1,40}) ?:/
/** A field, or the rest of one. */
const FIELD = /^(?:[^ :]{2,40} ?:| +[^ ])/
const MAX_RAW_HEADER = 40
/** Below these a header or an attribution may stand without a blank line: another field, a mark. */
const LABELLED = /^[^:\d]{1,40}: *[^ ]/
const DASHED = /^ *[-=_*~#]{2,}/

/** Whether what a program wrote and begins on this line is content: announced by the writer, or a header as it is sent. */
export function isPasted(lines: readonly Line[], at: number): boolean {
  return isAnnounced(lines, at) || isRawHeader(lines, at)
}

/** Whether a line goes on with a paragraph of the writer's: clients begin one, or indent. */
export function isInParagraph(lines: readonly Line[], at: number): boolean {
  const [above, line] = [lines[at - 1], lines[at]]
  if (above === undefined || above.blank || above.quoted || /^\s\s/.test(line?.text ?? '')) return false
  if (isClosing(above) || isName(above.text.trim())) return false
  return !isDeviceSignature(above.folded) && !LABELLED.test(above.folded) && !DASHED.test(above.folded)
}

function isRawHeader(lines: readonly Line[], at: number): boolean {
  for (let next = at; next < at + MAX_RAW_HEADER; next++) {
    const start = lines[next]?.folded.slice(0, 80) ?? ''
    if (RAW_FIELD.test(start)) return true
    if (!FIELD.test(start)) return false
  }
  return false
}

/**
 * Whether the writer announces what begins on this line, with a sentence that ends with a colon: "These are the headers
 * of the mail:". What follows is content then, even when a program wrote it: a client never ends the writer's text so.
 */
export function isAnnounced(lines: readonly Line[], at: number): boolean {
  let last = at - 1
  while (last > at - MAX_BLANKS && lines[last]?.blank === true) last--
  const line = lines[last]
  if (line === undefined || line.quoted || line.role !== undefined || !/: *$/.test(line.folded)) return false
  const isWrapped = lines[last - 1]?.blank === false
  const sentence = `${isWrapped ? lines[last - 1]?.folded : ''} ${line.folded}`.slice(-MAX_LENGTH)
  const words = sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word))
  if (words.length < MIN_WORDS && (sentence.match(UNSPACED) ?? []).length < MIN_UNSPACED) return false
  if (isInSignature(lines, last)) return false
  return [last, last - 1].every((start) => {
    const found = attributionAt(lines, start)
    return found === undefined || start + found.length <= last
  })
}

/** Whether a closing with a name stands above: signatures end with "Follow us on:", when icons follow. */
function isInSignature(lines: readonly Line[], at: number): boolean {
  return lines.slice(Math.max(0, at - MAX_SIGNATURE_LINES), at).some((line, index, above) => {
    return isBareClosing(line) && isName(above[nextShown(above, index + 1)]?.text.trim() ?? '')
  })
}

/** The line below the block that begins with this line, which may be a rule above it. */
export function afterBlock(lines: readonly Line[], at: number): number {
  let next = at
  for (let line = lines[next]; line !== undefined && (line.blank || isRule(line)); line = lines[next]) next++
  while (lines[next]?.blank === false) next++
  return next
}
