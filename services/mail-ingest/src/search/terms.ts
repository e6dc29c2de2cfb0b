import type { Stems } from './stems.ts'
import { pieces, tokensOf } from './words.ts'

/**
 * What a message can be found by, as 32-bit hashes of terms. There are three kinds: words with their stems and the pairs
 * of characters of scripts without spaces; beginnings of one and two characters, marked `^`; and the pieces of three
 * characters that sender, recipients and subject consist of, marked `*`. Two terms may have one hash, so that a result
 * is compared with the text before it is shown.
 */
export type TermHash = number

/** FNV-1a over UTF-16 code units, as a signed integer. Stored: a change would need every message to be indexed again. */
export function hashOf(term: string): TermHash {
  let hash = 0x811c9dc5
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193)
  return hash | 0
}

/** The longest beginning that is a term. */
export const SHORT = 2
/** Code points in a piece of sender, recipients and subject. */
export const PIECE = 3

/** Words of a pair, or the single character of a run that is alone. */
export function pairsOf(run: string): string[] {
  const pairs = pieces(run, 2)
  return pairs.length > 0 ? pairs : [run]
}

export interface SearchedText {
  /** Sender, recipients and subject, folded; one a line. */
  readonly headers: readonly string[]
  /** Text of the body and names of attachments, folded. */
  readonly body: string
}

/** The terms of a message, and the languages that were recognised in it. */
export function termsOf({ headers, body }: SearchedText, stems: Stems): { terms: TermHash[]; languages: string[] } {
  const words = new Set<string>()
  const terms = new Set<string>()
  for (const text of [...headers, body]) {
    for (const token of tokensOf(text)) {
      if (token.isUnspaced) {
        for (const pair of pairsOf(token.text)) terms.add(pair)
        for (const character of token.text) terms.add(`^${character}`)
      } else words.add(token.text)
    }
  }
  const languages = stems.recognise(tokensOf(body === '' ? headers.join('\n') : body))
  for (const word of words) {
    terms.add(word)
    for (const language of languages) terms.add(stems.stem(language, word))
    for (const beginning of beginnings(word)) terms.add(`^${beginning}`)
  }
  for (const line of headers) for (const piece of pieces(line, PIECE)) terms.add(`*${piece}`)
  return { terms: [...new Set([...terms].map(hashOf))].sort((a, b) => a - b), languages }
}

function beginnings(word: string): string[] {
  const points = [...word.slice(0, 2 * SHORT)]
  return Array.from({ length: Math.min(SHORT, points.length) }, (_, at) => points.slice(0, at + 1).join(''))
}
