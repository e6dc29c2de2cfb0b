import type { Line } from '../lines/line.ts'
import { ADDRESS } from '../vocabulary/dates.ts'
import { anyOf, anyWordOf, wordsOf } from '../vocabulary/match.ts'

const FOOTER = new RegExp(anyOf(wordsOf('footer')), 'gu')
const MESSAGE = new RegExp(anyWordOf(wordsOf('message')), 'u')
const LIST = new RegExp(anyOf(wordsOf('list')), 'u')
const COMPANY = new RegExp(anyWordOf(wordsOf('company')), 'gu')
const LINK = new RegExp(`https?://|www\\.|${ADDRESS}`, 'u')
const MAX_PARAGRAPH = 4_000
/** A shorter paragraph with one phrase of a disclaimer that does not speak of the message may be an answer. */
const MIN_STANDARD = 90
/** Characters that say as much as two others. */
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu

/** Whether a paragraph is what programs put below every mail: a disclaimer, the footer of a list, the imprint of a company. */
export function isStandardText(paragraph: readonly Line[]): boolean {
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
