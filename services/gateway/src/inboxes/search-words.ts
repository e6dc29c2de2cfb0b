/** Longer words are kept, and searched for, by their beginning: an index holds no entry of any length. In characters. */
const WORD_LENGTH = 64

/** Letters that whoever searches may write plainer, and that Unicode does not take apart. */
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

/** Text without case, accents and compatibility forms (identity 8.7): both what is searched and what is searched for. */
export function fold(text: string): string {
  const bare = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return bare.replaceAll(PLAINER, (letter) => PLAIN.get(letter) ?? letter)
}

/** The words that an inbox is found by: of its address, split at `@ . _ -`, and of its name. */
export function wordsOfInbox(address: string, displayName: string | null): string[] {
  return wordsOf(`${address} ${displayName ?? ''}`)
}

/** The words of a search, longest first. One that another begins with is left out: whoever has the other has it too. */
export function wordsOfSearch(text: string): string[] {
  const words = wordsOf(text).sort((one, other) => other.length - one.length)
  return words.filter((word, index) => !words.slice(0, index).some((longer) => longer.startsWith(word)))
}

/**
 * Whatever is no letter or digit parts words, in a search as in what is searched. So a text that an address begins with,
 * however long, finds it by its words too.
 */
function wordsOf(text: string): string[] {
  const words = fold(text).split(/[^\p{L}\p{N}]+/u)
  return [...new Set(words.filter((word) => word !== '').map(shortened))]
}

function shortened(word: string): string {
  return word.length <= WORD_LENGTH ? word : Array.from(word).slice(0, WORD_LENGTH).join('')
}

/** Texts from the first to below the second, byte by byte. */
export type Range = readonly [from: string, below: string]
export const NO_RANGE: Range = ['', '']

/** Every text that begins with this one. */
export function beginningWith(text: string): Range {
  return [text, `${text}\u{10ffff}`]
}

/** The addresses that a search names: as a whole, or by their local part where it holds no `@`; and by their beginning. */
export function addressesOfSearch(text: string): { readonly exact: Range; readonly beginning: Range } {
  const address = fold(text)
  if (!/^[a-z0-9@._-]+$/.test(address)) return { exact: NO_RANGE, beginning: NO_RANGE }
  const exact: Range = address.includes('@') ? [address, `${address}\u{1}`] : beginningWith(`${address}@`)
  return { exact, beginning: beginningWith(address) }
}
