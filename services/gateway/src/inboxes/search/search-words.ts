/** Longer words are stored, and searched for, by their beginning: index entries must be bounded. In characters. */
const WORD_LENGTH = 64

/** Letters that people may type without their marks, and that Unicode does not decompose. */
const PLAIN = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    ł: 'l',
    þ: 'th',
    ı: 'i',
    ħ: 'h',
    ŧ: 't',
    ς: 'σ',
  }),
)
const PLAINER = new RegExp(`[${[...PLAIN.keys()].join('')}]`, 'g')

/** Text without case, accents and compatibility forms (identity 8.7): applied to the indexed text and to the query. */
export function fold(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return bare.replaceAll(PLAINER, (letter) => PLAIN.get(letter) ?? letter)
}

/** The words by which an inbox is found: of its address, split at `@ . _ -`, and of its name. */
export function wordsOfInbox(address: string, displayName: string | null): string[] {
  return wordsOf(`${address} ${displayName ?? ''}`)
}

/** The words of a query, longest first. A word that is the beginning of another is dropped: the other implies it. */
export function wordsOfSearch(text: string): string[] {
  const words = wordsOf(text).sort((one, other) => other.length - one.length)
  return words.filter((word, index) => !words.slice(0, index).some((longer) => longer.startsWith(word)))
}

/**
 * Anything but letters and digits separates words, in a query as in the indexed text. So a beginning of an address,
 * however long, finds it by its words too.
 */
function wordsOf(text: string): string[] {
  const words = fold(text).split(/[^\p{L}\p{N}]+/u)
  return [...new Set(words.filter((word) => word !== '').map(shortened))]
}

function shortened(word: string): string {
  return word.length <= WORD_LENGTH ? word : Array.from(word).slice(0, WORD_LENGTH).join('')
}

/** The texts from the first to below the second, in byte order. */
export type Range = readonly [from: string, below: string]
export const NO_RANGE: Range = ['', '']

/** Every text that begins with this one. */
export function beginningWith(text: string): Range {
  return [text, `${text}\u{10ffff}`]
}

/**
 * The addresses that a query may mean: as a whole, or by their local part where it has no `@`; and by their beginning.
 */
export function addressesOfSearch(text: string): { readonly exact: Range; readonly beginning: Range } {
  const address = fold(text)
  if (!/^[a-z0-9@._-]+$/.test(address)) return { exact: NO_RANGE, beginning: NO_RANGE }
  const exact: Range = address.includes('@') ? [address, `${address}\u{1}`] : beginningWith(`${address}@`)
  return { exact, beginning: beginningWith(address) }
}
