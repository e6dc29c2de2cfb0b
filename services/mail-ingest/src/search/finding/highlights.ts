import type { Highlights } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import type { Stems } from '../text/stems.ts'
import { matchesInBody, matchesInHeader, type Range, type TextMatches } from './matches.ts'
import type { SearchedWord } from './search-query.ts'

/** What a search compares of a message that the index has found. */
export interface FoundText {
  readonly sender: string
  /** `to`, `cc` and `bcc`. */
  readonly recipients: readonly string[]
  readonly subject: string | null
  /** Text of the body, and names and texts of attachments. */
  readonly body: string
  readonly languages: readonly string[]
}

const MARK = '**'
/** Text in front of the first match of a fragment. */
const LEAD = 40

/**
 * The highlights of a message (mail 17). Undefined: it does not match every word, and was found because two terms have
 * one hash.
 */
export function highlightsOf(text: FoundText, words: readonly SearchedWord[], stems: Stems): Highlights | undefined {
  const from = matchesInHeader(text.sender, words)
  const recipients = text.recipients.map((recipient) => matchesInHeader(recipient, words))
  const subject = matchesInHeader(text.subject ?? '', words)
  const body = matchesInBody(text.body, words, text.languages, stems)
  const all = [from, ...recipients, subject, body]
  if (!words.every((word) => all.some(({ matched }) => matched.has(word)))) return undefined
  const shown = {
    from: fragments(text.sender, from),
    recipients: text.recipients.flatMap((recipient, at) => fragments(recipient, recipients[at]).slice(0, 1)),
    subject: fragments(text.subject ?? '', subject),
    text: fragments(text.body, body),
  }
  return Object.fromEntries(
    Object.entries(shown).flatMap(([field, found]) =>
      found.length === 0 ? [] : [[field, found.slice(0, LIMITS.search.highlights)]],
    ),
  )
}

/** Parts of a text around its matches, with the matches between `**`. */
function fragments(text: string, matches: TextMatches | undefined): string[] {
  const ranges = separate(matches?.ranges ?? [])
  const found: string[] = []
  let end = 0
  for (let next = 0; next < ranges.length && found.length < LIMITS.search.highlights; ) {
    const first = ranges[next]
    if (!first) break
    const start = wordStart(text, Math.max(end, first.start - LEAD), first.start)
    let room = LIMITS.search.highlight
    const inside: Range[] = []
    for (let range: Range | undefined = first; range && range.end - start + 2 * MARK.length <= room; ) {
      inside.push(range)
      room -= 2 * MARK.length
      range = ranges[next + inside.length]
    }
    if (inside.length === 0) inside.push({ start: first.start, end: whole(text, start + room - 2 * MARK.length) })
    next += Math.max(1, inside.length)
    end = Math.max(inside.at(-1)?.end ?? 0, wordEnd(text, Math.min(text.length, start + room)))
    found.push(marked(text, start, end, inside))
  }
  return found
}

/** Ranges in order; those that overlap or touch are one. */
function separate(ranges: readonly Range[]): Range[] {
  const separated: Range[] = []
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = separated.at(-1)
    if (last && range.start <= last.end) {
      separated[separated.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
    } else separated.push(range)
  }
  return separated
}

function marked(text: string, start: number, end: number, ranges: readonly Range[]): string {
  let [fragment, at] = ['', start]
  for (const range of ranges) {
    fragment += `${text.slice(at, range.start)}${MARK}${text.slice(range.start, range.end)}${MARK}`
    at = range.end
  }
  return (fragment + text.slice(at, end)).replace(/\s+/gu, ' ').trim()
}

/** The start of the first whole word from `from` on, at most `latest`. */
function wordStart(text: string, from: number, latest: number): number {
  if (from === 0) return 0
  const space = text.slice(from, latest).search(/\s/u)
  return space < 0 ? whole(text, from) : from + space
}

/** The end of the last whole word before `to`. */
function wordEnd(text: string, to: number): number {
  if (to === text.length) return to
  const space = text.slice(Math.max(0, to - LEAD), to).search(/\s\S*$/u)
  return space < 0 ? whole(text, to) : Math.max(0, to - LEAD) + space
}

/** A position that does not lie inside a surrogate pair. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
