import type { Stems } from '../text/stems.ts'
import { HEADER, hashOf, PIECE, pairsOf, SHORT, type TermHash } from '../text/terms.ts'
import { folded, pieces, type Token, tokensOf } from '../text/words.ts'

/** One word of a search, which an item must match in some field. */
export interface SearchedWord {
  /** Folded: sender, recipients and subject match where they contain it. */
  readonly text: string
  /** Its tokens with the forms of each; the body matches where it has one form of every token. */
  readonly tokens: readonly SearchedToken[]
  /** Terms (`query_int`): the body matches. Undefined for a word without letters and digits. */
  readonly inBody: string | undefined
  /** Fewer of them, for the index: the body may match. */
  readonly mayBeInBody: string | undefined
  /** For the index: sender, recipients and subject may match. Undefined for a word that is too short. */
  readonly inHeaders: string | undefined
}

export interface SearchedToken extends Pick<Token, 'text' | 'isUnspaced'> {
  /** It is so short that it matches the beginnings of words. */
  readonly isBeginning: boolean
  /** Its stem by language. */
  readonly stems: ReadonlyMap<string, string>
}

/** More pieces or pairs of a word would cost the index more than the rows that it then leaves out. */
const LOOKED_UP = 4

/** The words of a search: text between white space (mail 17). Folding may put a blank into one, which does not divide it. */
export function searchedWords(q: string, stems: Stems): SearchedWord[] {
  const words = q.split(/\s+/u).map((word) => folded(word).trim())
  return [...new Set(words)].filter((text) => text !== '').map((text) => searchedWord(text, stems))
}

function searchedWord(text: string, stems: Stems): SearchedWord {
  const tokens = [...tokensOf(text)].map(({ text: token, isUnspaced }) => ({
    text: token,
    isUnspaced,
    isBeginning: !isUnspaced && [...token].length <= SHORT,
    stems: isUnspaced ? new Map<string, string>() : stems.everyStem(token),
  }))
  const inBody = tokens.length === 0 ? undefined : tokens.map((token) => tokenTerms(token)).join('&')
  const mayBeInBody = inBody && tokens.map((token) => tokenTerms(token, LOOKED_UP)).join('&')
  return { text, tokens, inBody, mayBeInBody, inHeaders: headerTerms(text, tokens) }
}

/** Whether a word is shorter than the pieces of sender, recipients and subject. */
export function isShort(text: string): boolean {
  return [...text].length < PIECE
}

function headerTerms(text: string, tokens: readonly SearchedToken[]): string | undefined {
  const telling = isShort(text)
    ? tokens.flatMap((token) => (isRun(token) ? [...pairsOf(token.text)] : [`^${token.text}`]))
    : tellingPieces(text)
  return telling.length === 0 ? undefined : telling.map((piece) => hashOf(`${HEADER}${piece}`)).join('&')
}

/** A run of several characters without spaces. */
function isRun({ text, isUnspaced }: SearchedToken): boolean {
  return isUnspaced && [...text].length > 1
}

/** The pieces that are likely to be rare: those with other characters than letters, and then some of all parts. */
function tellingPieces(text: string): string[] {
  const all = pieces(text, PIECE)
  const rare = all.filter((piece) => /\P{L}/u.test(piece))
  return [...new Set([...rare, ...spread(all, LOOKED_UP)])].slice(0, LOOKED_UP)
}

/** So many of a list, from all its parts. */
function spread(all: readonly string[], most: number): string[] {
  const step = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(all.length, most) }, (_, at) => all[Math.floor(at * step)] ?? '')
}

/** @param mostPairs of a run without spaces; default: all */
function tokenTerms(token: SearchedToken, mostPairs?: number): string {
  const { text, isUnspaced, isBeginning, stems } = token
  if (isRun(token)) {
    const pairs = [...pairsOf(text)]
    return `(${spread(pairs, mostPairs ?? pairs.length)
      .map(hashOf)
      .join('&')})`
  }
  if (isUnspaced || isBeginning) return `(${hashOf(`^${text}`)})`
  return `(${[...new Set([text, ...stems.values()])].map(hashOf).join('|')})`
}

/** The stems of a token that are other words, as terms, each with the languages in which it is a form of the token. */
export function otherForms({ text, isUnspaced, isBeginning, stems }: SearchedToken): Map<TermHash, string[]> {
  const forms = new Map<TermHash, string[]>()
  if (isUnspaced || isBeginning) return forms
  for (const [language, stem] of stems) {
    if (stem !== text) forms.set(hashOf(stem), [...(forms.get(hashOf(stem)) ?? []), language])
  }
  return forms
}
