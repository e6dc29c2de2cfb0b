import { ADDRESS, DATE, isWeekday, TIME } from '../vocabulary/dates.ts'
import { anyOf, anyWordOf, wordsOf } from '../vocabulary/match.ts'
import type { Line } from './line.ts'

/** A line, wrapped over a few, by which a client announces what it quotes: `On Tuesday Bo wrote:`. */
export interface Announcement {
  /** How many lines it takes. */
  readonly length: number
  /** Where it begins in the first of them: the words before it are the writer's. */
  readonly column: number
  /** A `certain` one names who and when; a `likely` one counts only above quoted lines. */
  readonly strength: Strength
}

type Strength = 'certain' | 'likely'

const MAX_LINES = 5
const MAX_LENGTH = 400
const MAX_PARAGRAPH = 100_000
/** Longer paragraphs are searched in parts of this length around their dates. */
const WINDOW = 300
const MAX_DATES = 6
const MAX_ENDS = 6

const ON = anyOf(wordsOf('on'))
const DATES = new RegExp(DATE, 'gu')
const DATE_IN = new RegExp(DATE, 'u')
const TIME_IN = new RegExp(TIME, 'u')
const ADDRESS_IN = new RegExp(ADDRESS, 'u')
const VERB = new RegExp(anyWordOf(wordsOf('wrote')), 'gu')
/** What may stand ahead of the date: an opening word, the day of the week, the time. */
const LEAD = new RegExp(`^["'(]?(?:${ON}(?:[ ]{1,3}[^ ]{1,14}){0,2}|[^ ]{0,14}),?[ ]{0,3}$`, 'u')
const OPENED = new RegExp(`^${ON}[ ]`, 'u')
/** An opening word at the end of what precedes a date, with the day of the week. */
const OPENING = new RegExp(`(?:^|[ .,!?;:)"'-])(${ON}[ ]{1,3}(?:[^ ]{1,14}[ ]{1,3}){0,2})$`, 'u')
const NAMED = /^(?:quoting|zitat von|citando(?: a)?|citát|citat|citerar|quoted from|missatge de|mensaje citado por)[ ]/u
/** Around an announcement. */
const DRESS = ' *_-'
/** A colon that is not part of a time or a link. */
const COLONS = /:(?!\d|\/\/)/g
const SENTENCE_END =
  /\p{L}{4}\.[ ]|[!?][ ]|[.!?](?=\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul})/u

/**
 * The announcement that begins on this line, if there is one. The line may hold words of the writer ahead of it, and
 * what is quoted after it.
 */
export function announcementAt(lines: readonly Line[], at: number): Announcement | undefined {
  const first = lines[at]
  if (first === undefined || first.folded.length > MAX_PARAGRAPH) return undefined
  if (!/[\d@:<]|--/.test(first.folded)) return nameAbove(lines, at)
  let folded = ''
  let text = ''
  let likely: Announcement | undefined
  for (let length = 1; length <= MAX_LINES; length++) {
    const line = lines[at + length - 1]
    if (line === undefined || line.blank || (length > 1 && !continues(folded, line))) break
    folded += length === 1 ? line.folded : ` ${line.folded.trim()}`
    text += length === 1 ? line.text : ` ${line.text.trim()}`
    if (length > 1 && folded.length > MAX_LENGTH) break
    const found = findIn(folded, text, first.folded.length)
    if (found?.strength === 'certain') return { length, ...found }
    likely ??= found && { length, ...found }
  }
  return likely ?? nameAbove(lines, at)
}

/** A line that may continue an attribution that was wrapped, also inside the brackets of an address. */
function continues(folded: string, next: Line): boolean {
  if (folded.lastIndexOf('<') > folded.lastIndexOf('>')) return true
  if (next.quoted) return false
  return DATE_IN.test(folded.slice(-WINDOW)) || OPENED.test(folded.trimStart())
}

/** A name that was wrapped ahead of its address. */
function nameAbove(lines: readonly Line[], at: number): Announcement | undefined {
  const [name, next] = [lines[at], lines[at + 1]]
  if (name === undefined || next === undefined || next.quoted || !/^ *[<([]/.test(next.folded)) return undefined
  const folded = `${name.folded.trim()} ${next.folded.trim()}`
  if (folded.length > MAX_LENGTH) return undefined
  const strength = strengthOf(folded, `${name.text.trim()} ${next.text.trim()}`, false)
  return strength && { length: 2, column: 0, strength }
}

function findIn(folded: string, text: string, within: number): Omit<Announcement, 'length'> | undefined {
  if (folded.length <= MAX_LENGTH) {
    const start = /^[ *_-]*/.exec(folded)?.[0].length ?? 0
    let end = folded.length
    while (end > start && DRESS.includes(folded[end - 1] ?? '')) end--
    const dashed = folded.slice(0, start).includes('--') && folded.slice(end).includes('--')
    const strength = strengthOf(folded.slice(start, end), text.slice(start, end), dashed)
    if (strength !== undefined) return { column: 0, strength }
  }
  return insideOf(folded, text, within)
}

/** An announcement that begins after words of the writer, or ends ahead of quoted words. */
function insideOf(folded: string, text: string, within: number): Omit<Announcement, 'length'> | undefined {
  let dates = 0
  for (const { index } of folded.matchAll(DATES)) {
    if (index > within + WINDOW || dates++ >= MAX_DATES) return undefined
    for (const start of [startByDate(folded, text, index), startByName(folded, index)]) {
      if (start === undefined || start >= within) continue
      if (endsWithin(folded.slice(start, start + WINDOW), text.slice(start, start + WINDOW))) {
        return { column: folded.slice(0, start).trim() === '' ? 0 : start, strength: 'certain' }
      }
    }
  }
  return undefined
}

/** Whether an announcement that begins here ends somewhere in the window. */
function endsWithin(folded: string, text: string): boolean {
  const ends = [...folded.matchAll(COLONS)].slice(0, MAX_ENDS).map(({ index }) => index + 1)
  return [...ends, folded.trimEnd().length].some(
    (end) => strengthOf(folded.slice(0, end), text.slice(0, end), false) === 'certain',
  )
}

/** Where an announcement begins whose date is here: at its opening word, or at the day of the week. */
function startByDate(folded: string, text: string, date: number): number | undefined {
  const from = Math.max(0, date - 48)
  const before = folded.slice(from, date)
  const opening = OPENING.exec(before)?.[1]
  if (opening !== undefined) {
    const start = date - opening.length
    // An opening word within a sentence is not capitalised.
    if (start === 0 || !/\p{Ll}/u.test(text[start] ?? '')) return start
  }
  const day = /([^ ]{2,14}) {1,3}$/.exec(before)
  if (day?.[1] !== undefined && isWeekday(day[1].replace(/[.,]+$/, ''))) return date - day[0].length
  return /(?:^|[.!?] {1,3})$/.test(before) ? date : undefined
}

/** Where an announcement begins whose name and address stand ahead of its date: after the sentence before them. */
function startByName(folded: string, date: number): number | undefined {
  const from = Math.max(0, date - 160)
  const before = folded.slice(from, date)
  const address = ADDRESS_IN.exec(before)
  if (address === null) return undefined
  const ends = [...before.slice(0, address.index).matchAll(/[.!?] {1,3}/g)]
  const last = ends.at(-1)
  if (last === undefined) return from === 0 ? 0 : undefined
  return from + last.index + last[0].length
}

/** How surely a text, from its beginning to its end, is an announcement; `dashed` when it stands between dashes. */
function strengthOf(folded: string, text: string, dashed: boolean): Strength | undefined {
  const closed = folded.trimEnd().endsWith(':')
  const body = closed ? folded.trimEnd().slice(0, -1).trimEnd() : folded.trimEnd()
  const verbs = [...body.matchAll(VERB)]
  const verb = verbs.at(-1)
  const ends = closed || dashed || (verb !== undefined && verb.index + verb[0].length === body.length)
  const address = ADDRESS_IN.exec(body)
  if (!ends && address === null) return undefined
  const date = DATE_IN.exec(body)
  const facts = { body, text, dashed, ends, date, address, verb: verbs[0] }
  if (date !== null && LEAD.test(body.slice(0, date.index))) return ofDate({ ...facts, date })
  return ofName(facts)
}

interface Facts {
  readonly body: string
  readonly text: string
  readonly dashed: boolean
  readonly ends: boolean
  readonly date: RegExpExecArray | null
  readonly address: RegExpExecArray | null
  readonly verb: RegExpExecArray | undefined
}

/** An announcement that begins with its date. */
function ofDate({ body, ends, date, address, verb }: Facts & { date: RegExpExecArray }): Strength | undefined {
  const timed = hasTime(body, date)
  const rest = address === null ? body.length : body.length - address.index - address[0].length
  if (!ends) return rest <= 4 ? 'likely' : undefined
  if (verb !== undefined) return address !== null || (timed && wordsIn(body) <= 16) ? 'certain' : 'likely'
  if (address !== null) return timed && rest <= 4 ? 'certain' : 'likely'
  return timed && body.length <= 120 ? 'likely' : undefined
}

/** An announcement that begins with a name, or with an opening word that no date follows. */
function ofName({ body, text, dashed, ends, date, address, verb }: Facts): Strength | undefined {
  if (NAMED.test(body)) return date !== null && address !== null ? 'certain' : ends ? 'likely' : undefined
  if (verb !== undefined && address !== null && ends && OPENED.test(body)) return /\d/.test(body) ? 'certain' : 'likely'
  const name = body.slice(0, Math.min(verb?.index ?? body.length, address?.index ?? body.length))
  if (!isName(name, text, address !== null)) return undefined
  if (address !== null) {
    if (verb !== undefined && ends) return date !== null ? 'certain' : 'likely'
    return date !== null && hasTime(body, date) && body.length <= 160 ? 'likely' : undefined
  }
  if (verb === undefined || !ends || (name.trim() === '' && date === null)) return undefined
  return dashed ? 'certain' : 'likely'
}

function hasTime(body: string, date: RegExpExecArray): boolean {
  return TIME_IN.test(`${body.slice(0, date.index)} ${body.slice(date.index + date[0].length)}`)
}

function wordsIn(body: string): number {
  return body.split(' ').filter((word) => word !== '').length
}

/** What stands ahead of an address or a verb: a name, not the beginning of a sentence. */
function isName(name: string, text: string, addressed: boolean): boolean {
  if (/[!?;:]/.test(name) || SENTENCE_END.test(name)) return false
  const raw = text.slice(0, name.length)
  const words = raw.split(/\s+/).filter((word) => word !== '')
  if (addressed) return words.length <= 7 && (words.length === 0 || /[<([]\s*(?:mailto:\s*)?$/i.test(raw))
  if (words.length > 5 || name.length > 80) return false
  return (
    words.length <= 1 ||
    / via /.test(name) ||
    words.every((word) => !/^\p{Ll}/u.test(word) || /^(?:de|van|von|der|da|di|del|la|le|bin|al|el)$/u.test(word))
  )
}
