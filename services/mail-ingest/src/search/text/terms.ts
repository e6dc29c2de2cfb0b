import { setImmediate as nextTurn } from 'node:timers/promises'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Stems } from './stems.ts'
import { pieces, tokensOf } from './words.ts'

/**
 * What a message can be found by, as 32-bit hashes of terms. Of its body: words with their stems, the pairs of characters
 * of scripts without spaces, and beginnings of one and two characters, marked `^`. Of sender, recipients and subject,
 * marked `*`: pieces of three characters, and the same pairs and beginnings. Two terms may have one hash, so that a
 * result is compared with the text before it is shown.
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
/** Marks the terms of sender, recipients and subject. */
export const HEADER = '*'
/** Code points in a piece of sender, recipients and subject. */
export const PIECE = 3

/** The overlapping pairs of characters of a run without spaces, or its only character. */
export function* pairsOf(run: string): Generator<string> {
  let before = ''
  let isAlone = true
  for (const character of run) {
    if (before !== '') {
      yield before + character
      isAlone = false
    }
    before = character
  }
  if (isAlone) yield run
}

export interface SearchedText {
  /** Sender, recipients and subject, folded; one a line. */
  readonly headers: readonly string[]
  /** Text of the body and names of attachments, folded. */
  readonly body: string
  /** Text of attachments, folded. */
  readonly documents: string
}

const { terms: mostTerms, documentTerms } = LIMITS.search
/** Tokens between two turns of the event loop. */
const TOKENS_AT_ONCE = 500

/**
 * The terms of a message, at most `LIMITS.search.terms`: those of its header first, and those of its attachments last, of
 * which there is a limit, too. And the languages that were recognised in it. Other work of the process goes on meanwhile.
 */
export async function termsOf(
  { headers, body, documents }: SearchedText,
  stems: Stems,
): Promise<{ terms: TermHash[]; languages: string[] }> {
  const text = [body, documents].filter((part) => part !== '').join('\n')
  const languages = stems.recognise(tokensOf(text === '' ? headers.join('\n') : text))
  const terms = new Set<TermHash>()
  for (const line of headers) addHeader(terms, line)
  await addText(terms, { text: body, most: mostTerms, languages, stems })
  const most = Math.min(mostTerms, terms.size + documentTerms)
  await addText(terms, { text: documents, most, languages, stems })
  return { terms: [...Int32Array.from([...terms].slice(0, mostTerms)).sort()], languages }
}

interface AddedText {
  readonly text: string
  /** Terms of the message that end it. */
  readonly most: number
  readonly languages: readonly string[]
  readonly stems: Stems
}

async function addText(terms: Set<TermHash>, { text, most, languages, stems }: AddedText): Promise<void> {
  let tokens = 0
  for (const token of tokensOf(text)) {
    if (terms.size >= most) return
    if (++tokens % TOKENS_AT_ONCE === 0) await nextTurn()
    if (token.isUnspaced) addRun(terms, token.text, most)
    else addWord(terms, token.text, languages, stems)
  }
}

function addHeader(terms: Set<TermHash>, line: string): void {
  for (const piece of pieces(line, PIECE)) terms.add(hashOf(`${HEADER}${piece}`))
  for (const { text, isUnspaced } of tokensOf(line)) {
    if (!isUnspaced) for (const beginning of beginnings(text)) terms.add(hashOf(`${HEADER}^${beginning}`))
    else {
      for (const pair of pairsOf(text)) terms.add(hashOf(`${HEADER}${pair}`))
      for (const character of text) terms.add(hashOf(`${HEADER}^${character}`))
    }
  }
}

function addRun(terms: Set<TermHash>, run: string, most: number): void {
  for (const pair of pairsOf(run)) {
    if (terms.size >= most) return
    const term = hashOf(pair)
    if (terms.has(term)) continue
    terms.add(term)
    for (const character of pair) terms.add(hashOf(`^${character}`))
  }
}

function addWord(terms: Set<TermHash>, word: string, languages: readonly string[], stems: Stems): void {
  const term = hashOf(word)
  if (terms.has(term)) return
  terms.add(term)
  for (const language of languages) terms.add(hashOf(stems.stem(language, word)))
  for (const beginning of beginnings(word)) terms.add(hashOf(`^${beginning}`))
}

function beginnings(word: string): string[] {
  const found: string[] = []
  let beginning = ''
  for (const character of word) {
    beginning += character
    found.push(beginning)
    if (found.length === SHORT) break
  }
  return found
}
