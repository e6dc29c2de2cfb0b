import type { Stems } from '../text/stems.ts'
import { folded, isAscii, type Token, tokensOf, wordsBeginning } from '../text/words.ts'
import type { SearchedToken, SearchedWord } from './search-query.ts'

/** A matched part of a text, in UTF-16 code units of the text as it is shown. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Where the words of a search match in one text. */
export interface TextMatches {
  readonly ranges: readonly Range[]
  /** The words that match. */
  readonly matched: ReadonlySet<SearchedWord>
}

/** Matches of one word that are noted; a fragment or two show no more. */
const NOTED = 20

/** Sender, recipients and subject match where they contain the word. */
export function matchesInHeader(text: string, words: readonly SearchedWord[]): TextMatches {
  const { fold, positionOf } = foldedWithPositions(text)
  const ranges: Range[] = []
  const matched = new Set<SearchedWord>()
  for (const word of words) {
    let at = fold.indexOf(word.text)
    for (let noted = 0; at >= 0 && noted < NOTED; noted++) {
      matched.add(word)
      ranges.push({ start: positionOf(at), end: positionOf(at + word.text.length) })
      at = fold.indexOf(word.text, at + word.text.length)
    }
  }
  return { ranges, matched }
}

/** The body matches a word where it has each of its tokens, in one of their forms. */
export function matchesInBody(
  text: string,
  words: readonly SearchedWord[],
  languages: readonly string[],
  stems: Stems,
): TextMatches {
  const { fold, positionOf } = foldedWithPositions(text)
  const wanted = words.flatMap(({ tokens }) => tokens)
  const found = new Map<SearchedToken, Range[]>()
  const note = (token: SearchedToken, start: number, length: number) => {
    const ranges = found.get(token) ?? []
    found.set(token, ranges)
    if (ranges.length < NOTED) ranges.push({ start: positionOf(start), end: positionOf(start + length) })
  }
  const isForm = formTest(languages, stems)
  const anyBeginning = stems.changesBeginnings(languages)
  for (const searched of wanted) {
    if (searched.isUnspaced) continue
    // Stems differ from their words at the end.
    for (const token of anyBeginning ? tokensOf(fold) : wordsBeginning(fold, searched.text.charAt(0))) {
      if (!token.isUnspaced && isForm(searched, token)) note(searched, token.start, token.text.length)
    }
  }
  for (const run of wanted) {
    if (!run.isUnspaced) continue
    for (let at = fold.indexOf(run.text); at >= 0; at = fold.indexOf(run.text, at + run.text.length)) {
      note(run, at, run.text.length)
      if ((found.get(run)?.length ?? 0) >= NOTED) break
    }
  }
  const matched = words.filter(({ tokens }) => tokens.length > 0 && tokens.every((token) => found.has(token)))
  return {
    ranges: matched.flatMap(({ tokens }) => tokens.flatMap((token) => found.get(token) ?? [])),
    matched: new Set(matched),
  }
}

function formTest(languages: readonly string[], stems: Stems): (searched: SearchedToken, token: Token) => boolean {
  return ({ text, isBeginning, stems: searched }, token) => {
    if (token.text === text) return true
    if (isBeginning) return token.text.startsWith(text)
    return languages.some((language) => searched.get(language) === stems.stem(language, token.text))
  }
}

interface FoldedText {
  readonly fold: string
  /** Position in the text as it is shown, of a position in the folded one. */
  readonly positionOf: (index: number) => number
}

/**
 * Parts of a text that are folded apart from each other: characters of ASCII, and others with the character before them,
 * with which they may combine.
 */
const PARTS = /[\0-\x7f]+(?![^\0-\x7f])|[\s\S][^\0-\x7f]*/g
/** A blank, or a character with what may combine with it: marks, and letters of Korean syllables in all their forms. */
const CLUSTERS = /\s|[\s\S][\p{M}\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\ud7b0-\ud7ff\uff9e-\uffdc]*/gu

/** Where a part of the folded text begins, there and in the text as it is shown. */
interface Part {
  readonly at: number
  readonly shownAt: number
  readonly isAligned: boolean
}

function foldedWithPositions(text: string): FoldedText {
  // Found first: most texts are such, and each look at a long one costs as much as comparing it.
  if (isAscii(text)) return { fold: text.toLowerCase(), positionOf: (index) => index }
  const whole = folded(text)
  if (isAligned(text, whole)) return { fold: whole, positionOf: (index) => index }
  const parts: Part[] = []
  let fold = ''
  const add = (part: string, shownAt: number, aligned: boolean) => {
    parts.push({ at: fold.length, shownAt, isAligned: aligned })
    fold += part
  }
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    const foldedPart = folded(part)
    if (isAligned(part, foldedPart)) add(foldedPart, index, true)
    else for (const cluster of part.matchAll(CLUSTERS)) add(folded(cluster[0]), index + cluster.index, false)
  }
  add('', text.length, false)
  return { fold, positionOf: (index) => shownPosition(parts, index) }
}

function shownPosition(parts: readonly Part[], index: number): number {
  let [first, last] = [0, parts.length - 1]
  while (first < last) {
    const middle = Math.ceil((first + last) / 2)
    if ((parts[middle]?.at ?? 0) <= index) first = middle
    else last = middle - 1
  }
  const { at, shownAt, isAligned } = parts[first] ?? { at: 0, shownAt: 0, isAligned: true }
  return isAligned ? shownAt + index - at : shownAt
}

/** Whether each position of a folded text is that of the text itself. */
function isAligned(text: string, fold: string): boolean {
  return isAscii(text) || (fold.length === text.length && text.normalize('NFKC') === text)
}
