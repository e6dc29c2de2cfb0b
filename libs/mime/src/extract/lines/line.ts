/** One line of a body, prepared for the rules. */
export interface Line {
  /** As written. */
  readonly text: string
  /** The same number of characters in lower case, with plain spaces, digits, quotes, dashes and marks. */
  readonly folded: string
  readonly blank: boolean
  /** Quoted by a mark at its beginning, or by the markup around it. */
  readonly quoted: boolean
  /** What the markup of a known client says about the line. */
  readonly role?: Role
}

export type Role =
  /** The line above a quote that says who wrote it. */
  | 'attribution'
  /** From here on everything is an earlier message. */
  | 'history'
  /** Quoted by the client, not by the writer. */
  | 'cited'
  /** Quoted by the writer: content. */
  | 'citation'
  /** The signature that the client adds. */
  | 'signature'

/** A place in a body: everything from this column of this line on is cut. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Where a reply ends, and why. */
export type ReplyEnd =
  /** There is nothing but the reply. */
  | { readonly kind: 'none' }
  /** Nothing may be removed: the writer answers between or below quotes, or forwards. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'cut'; readonly place: Place }

/** The mark of a quote at the beginning of a folded line, as often as it is nested. */
const MARKS = /^ {0,3}(?:(?:>|&gt;) ?){1,20}/
/** Some clients write the initials of the author ahead of it. */
const INITIALS = /^[ \t]{0,3}\p{Lu}[\p{L}.]{0,3}>/u
const PLAIN = /^[\t\x20-\x7e]*$/

/** Characters that are written in several ways, each with the one by which the rules know it. */
const ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ' ': '\t\u00a0\u00ad\u034f\u061c\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\u3000\ufeff',
    '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212\uff0d',
    "'": '\u2018\u2019\u201b\u2032\u02bc\uff07',
    '"': '\u00ab\u00bb\u201c\u201d\u201e\u201f\u300c\u300d\uff02',
    ':': '\uff1a\ufe55',
    ',': '\uff0c\u3001\u060c',
    ';': '\uff1b\u061b',
    '.': '\u3002\uff0e',
    '!': '\uff01',
    '?': '\uff1f\u061f',
    '(': '\uff08',
    ')': '\uff09',
    '<': '\uff1c\u2039',
    '>': '\uff1e\u203a',
    '|': '\uff5c',
    _: '\uff3f',
    i: '\u0130',
  }).flatMap(([plain, others]) => [...others].map((other) => [other, plain] as const)),
)
const VARIANTS = new RegExp(`[${[...ALIKE.keys()].join('')}]`, 'g')
/** The zero of each set of decimal digits in use. */
const ZEROS = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0ae6, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0e50, 0x1040, 0x17e0, 0xff10]
const DIGITS = new RegExp(`[${ZEROS.map((zero) => String.fromCharCode(zero, 0x2d, zero + 9)).join('')}]`, 'g')

/** Folds a line without changing its length, so that a place in one is a place in the other. */
export function foldLine(text: string): string {
  if (PLAIN.test(text)) return text.replaceAll('\t', ' ').toLowerCase()
  return text
    .replace(VARIANTS, (char) => ALIKE.get(char) ?? char)
    .replace(DIGITS, digit)
    .toLowerCase()
}

function digit(char: string): string {
  const code = char.charCodeAt(0)
  const zero = ZEROS.findLast((each) => each <= code) ?? code
  return String(code - zero)
}

/** A line of plain text. */
export function lineOf(text: string, role?: Role): Line {
  const folded = foldLine(text)
  const quoted = MARKS.test(folded) || INITIALS.test(text)
  return { text, folded, blank: folded.trim() === '', quoted, ...(role && { role }) }
}

/** Whether a line is quoted by a mark that no shell or shop writes: not by initials. */
export function isMarked(line: Line): boolean {
  return MARKS.test(line.folded)
}

/** The same line without its outer quote marks. */
export function unquoted(line: Line): Line {
  return lineOf(line.text.slice(MARKS.exec(line.folded)?.[0].length ?? 0), line.role)
}

/** A line of dashes or the like, alone. */
export function isRule(line: Line): boolean {
  return line.folded.length < 400 && /^[ >*]*([-_=*~#+])\1{2,}[ *]*$/.test(line.folded)
}

/** Whether a line shows anything but marks. */
export function isShown(line: Line): boolean {
  return !line.blank && /[^ >_=*~-]/.test(line.folded)
}

/** Index of the first line from `at` on that is not blank; `end` if there is none. */
export function nextShown(lines: readonly Line[], at: number, end = lines.length): number {
  let next = at
  while (next < end && lines[next]?.blank === true) next++
  return next
}
