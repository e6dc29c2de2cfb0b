/**
 * Scripts that are written without spaces between words, and Korean, whose words carry their particles: text in them is
 * compared by pairs of characters (mail 17).
 */
const SCRIPTS =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}'

/** Letters and marks that no single one of these scripts owns, such as ー, and without marks that Latin letters carry. */
const SHARED = '[[[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}]&&[\\p{L}\\p{N}\\p{M}]]--\\p{scx=Latin}]'

const UNSPACED = `${SCRIPTS}${SHARED}`

const CHARACTER = `[[\\p{L}\\p{N}\\p{M}]--[${UNSPACED}]]`
const WORD = `${CHARACTER}+`
const TOKENS = new RegExp(`([${UNSPACED}]+)|${WORD}`, 'gv')
const IN_WORD = new RegExp(`${CHARACTER}$`, 'v')

/** A longer word is found by its beginning. */
const LONGEST_WORD = 64

/** A word, or a run of a script without spaces, and where it begins in its text. */
export interface Token {
  readonly text: string
  readonly isUnspaced: boolean
  readonly start: number
}

/** Marks on one character that are compared. Ordering more of them would take quadratic time (UAX 15, stream-safe text). */
const MARKS = /(\p{M}{30})\p{M}+/gu

const ASCII = /^[\0-\x7f]*$/

/** Whether a text has no other characters than those of ASCII, which are folded by themselves and one to one. */
export function isAscii(text: string): boolean {
  return ASCII.test(text)
}

/**
 * The form in which texts are compared: compatible characters unified (NFKC), lower case; a Greek sigma is the same at the
 * end of a word, and a Turkish capital i with its dot is an i. Parts of a text that no mark, dot or Korean letter combines
 * have the same form as within it.
 */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  return text.replace(MARKS, '$1').normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i')
}

/** The words of a folded text, in order. */
export function* tokensOf(text: string): Generator<Token> {
  for (const match of text.matchAll(TOKENS)) {
    const isUnspaced = match[1] !== undefined
    yield { text: isUnspaced ? match[0] : match[0].slice(0, LONGEST_WORD), isUnspaced, start: match.index }
  }
}

/** The words of a folded text that begin like this, as `tokensOf` divides it: without looking at all others. */
export function* wordsBeginning(text: string, beginning: string): Generator<Token> {
  const word = new RegExp(WORD, 'vy')
  for (let at = text.indexOf(beginning); at >= 0; at = text.indexOf(beginning, at + 1)) {
    if (IN_WORD.test(text.slice(Math.max(0, at - 2), at))) continue
    word.lastIndex = at
    const [found] = word.exec(text) ?? []
    if (found !== undefined) yield { text: found.slice(0, LONGEST_WORD), isUnspaced: false, start: at }
  }
}

/** The overlapping pieces of `length` code points. A shorter text has none. */
export function pieces(text: string, length: number): string[] {
  const points = [...text]
  return Array.from({ length: Math.max(0, points.length - length + 1) }, (_, at) =>
    points.slice(at, at + length).join(''),
  )
}
