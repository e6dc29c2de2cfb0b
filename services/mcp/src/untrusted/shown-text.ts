/** Text as a model reads it, and how much of what was there it does not see. */
export interface Shown {
  readonly text: string
  /** How many invisible and direction-changing characters were removed. */
  readonly removedChars: number
}

/**
 * Characters that are not seen: those that Unicode says to ignore when a program cannot show them (zero width, soft hyphen,
 * fillers, variation selectors, tags), controls, those that change the direction of text, and code points that no text may
 * contain.
 */
const INVISIBLE =
  /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Noncharacter_Code_Point}\ufff9-\ufffb\u{13430}-\u{13440}\u{1d159}]|(?![\n\t])\p{Cc}/gu

/** Scripts whose letters join, or whose consonants melt into one sign. */
const JOINING = 'Arab Syrc Mong Nkoo Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'.split(' ')
/**
 * A single (non-)joiner between two letters of such scripts is part of the spelling (RFC 5892 appendix A): without it,
 * Persian words run together. No hidden sentence can be written with it.
 */
const JOINING_LETTER = new RegExp(
  `^(?=[\\p{L}\\p{M}])[${JOINING.map((script) => `\\p{Script=${script}}`).join('')}]$`,
  'u',
)

const JOINER = /[\u200c\u200d]/g
const LINE_END = /\r\n?|[\v\f\u0085\u2028\u2029]/g
/** Spaces of unusual width, the blank of Braille among them. The wide space of East Asian text stays. */
const SPACE = /(?!\u3000)[\p{Zs}\u2800]/gu
/** A person sees an empty box, if anything. */
const PRIVATE_USE = /\p{Co}+/gu
/** Writing needs no more marks on a letter. */
const EXCESS_MARKS = /(\p{M}{8})\p{M}+/gu

/**
 * Text of others as a model may read it: what a person does not see is removed, and nothing else. Line ends are `\n`;
 * characters are in their composed form (NFC); lone surrogates and private characters become U+FFFD; a letter keeps at most
 * eight marks. Sequences of emoji fall apart into the emoji they are made of, because the joiners and selectors
 * between them are invisible. Idempotent; takes time linear to the text.
 */
export function shownText(text: string): string {
  return showText(text).text
}

/** `shownText`, with the number of characters that were removed. */
export function showText(text: string): Shown {
  const once = showOnce(text)
  const twice = showOnce(once.text)
  if (twice.text === once.text) return once
  // Composition has put marks in another order, so that a joiner is no longer between two letters. No language does that.
  const { text: shown } = showOnce(twice.text.replace(JOINER, ''))
  return { text: shown, removedChars: once.removedChars + (once.text.match(JOINER)?.length ?? 0) }
}

function showOnce(text: string): Shown {
  const lines = text.toWellFormed().replace(LINE_END, '\n')
  let removedChars = 0
  const visible = lines.replace(INVISIBLE, (char, at: number) => {
    if (isSpelling(lines, char, at)) return char
    removedChars++
    return ''
  })
  const marked = visible.replace(SPACE, ' ').replace(PRIVATE_USE, '\ufffd').replace(EXCESS_MARKS, '$1')
  // Composition may add marks: some signs are written with two of them.
  return { text: marked.normalize('NFC').replace(EXCESS_MARKS, '$1'), removedChars }
}

function isSpelling(text: string, char: string, at: number): boolean {
  if (char !== '\u200c' && char !== '\u200d') return false
  return JOINING_LETTER.test(text.charAt(at - 1)) && JOINING_LETTER.test(text.charAt(at + 1))
}
