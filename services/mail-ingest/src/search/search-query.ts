import type { Stems } from './stems.ts'
import { hashOf, PIECE, pairsOf, SHORT } from './terms.ts'
import { folded, pieces, type Token, tokensOf } from './words.ts'

/** One word of a search, which an item must match in some field. */
export interface SearchedWord {
  /** Folded: sender, recipients and subject match where they contain it. */
  readonly text: string
  /** Its tokens with the forms of each; the body matches where it has one form of every token. */
  readonly tokens: readonly SearchedToken[]
  /** For the index (`query_int`): the body matches. Undefined for a word without letters and digits. */
  readonly inBody: string | undefined
  /** For the index: the body matches, or sender, recipients and subject may. Undefined where no term tells. */
  readonly anywhere: string | undefined
}

export interface SearchedToken extends Pick<Token, 'text' | 'isUnspaced'> {
  /** The word and its stems in every language. */
  readonly forms: ReadonlySet<string>
}

/** The words of a search: text between white space (mail 17). */
export function searchedWords(q: string, stems: Stems): SearchedWord[] {
  return [...new Set(folded(q).split(/\s+/u))].filter((text) => text !== '').map((text) => searchedWord(text, stems))
}

function searchedWord(text: string, stems: Stems): SearchedWord {
  const tokens = [...tokensOf(text)].map(({ text: token, isUnspaced }) => ({
    text: token,
    isUnspaced,
    forms: new Set(isUnspaced ? [token] : [token, ...stems.everyStem(token)]),
  }))
  const inBody = tokens.length === 0 ? undefined : tokens.map(tokenTerms).join('&')
  const inHeaders = pieces(text, PIECE).map((piece) => hashOf(`*${piece}`))
  const header = inHeaders.length === 0 ? undefined : `(${inHeaders.join('&')})`
  const either = [inBody && `(${inBody})`, header].filter((part) => part !== undefined)
  return { text, tokens, inBody, anywhere: either.length === 0 ? undefined : `(${either.join('|')})` }
}

function tokenTerms({ text, isUnspaced, forms }: SearchedToken): string {
  const length = [...text].length
  if (isUnspaced) {
    if (length === 1) return `(${hashOf(`^${text}`)})`
    return `(${pairsOf(text).map(hashOf).join('&')})`
  }
  if (length <= SHORT) return `(${hashOf(`^${text}`)})`
  return `(${[...forms].map(hashOf).join('|')})`
}
