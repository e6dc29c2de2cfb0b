import type { Line } from '../lines/line.ts'
import { DATE, isWeekday } from '../vocabulary/dates.ts'
import { anyOf, wordsOf } from '../vocabulary/match.ts'
import {
  addressIn,
  endsWithVerb,
  hasDate,
  isOpened,
  mayHaveDate,
  type Strength,
  strengthOf,
  wordsIn,
} from './strength.ts'

/** The line above a quote, wrapped over a few, that says who wrote it and when: `On Tuesday Bo wrote:`. */
export interface Attribution {
  /** How many lines it takes. */
  readonly length: number
  /** Where it begins in the first of them: the words before it are the writer's. */
  readonly column: number
  readonly strength: Strength
}

type Found = Omit<Attribution, 'length'>

const MAX_LINES = 5
const MAX_LENGTH = 400
/** Longer paragraphs are searched in parts of this length around their dates. */
const WINDOW = 300
const MAX_PARAGRAPH = 100_000
const MAX_DATES = 6
const MAX_ENDS = 6
/** Words of a line that begins with a name and an address and is continued. */
const MAX_NAMED = 12

const DATES = new RegExp(DATE, 'gu')
/** An opening word at the end of what precedes a date, with the day of the week. */
const OPENING = new RegExp(`(?:^|[ .,!?;:)"'-])(${anyOf(wordsOf('on'))}[ ]{1,3}(?:[^ ]{1,14}[ ]{1,3}){0,2})$`, 'u')
/** Around an attribution. */
const DRESS = ' *_-'
/** A colon that is not part of a time or a link. */
const COLONS = /:(?!\d|\/\/)/g

/**
 * The attribution that begins on this line, if there is one. The line may hold words of the writer ahead of it, and
 * what is quoted after it.
 */
export function attributionAt(lines: readonly Line[], at: number): Attribution | undefined {
  const first = lines[at]
  if (first === undefined || first.folded.length > MAX_PARAGRAPH) return undefined
  if (!mayBeAttribution(first.folded)) return nameAbove(lines, at)
  let folded = ''
  let text = ''
  let likely: Attribution | undefined
  for (let length = 1; length <= MAX_LINES; length++) {
    const line = lines[at + length - 1]
    if (line === undefined || line.blank || (length > 1 && !continues(folded, line))) break
    folded += length === 1 ? line.folded : ` ${line.folded.trim()}`
    text += length === 1 ? line.text : ` ${line.text.trim()}`
    if (length > 1 && folded.length > MAX_LENGTH) break
    const found = findIn(folded, text, first.folded.length)
    if (found?.strength === 'certain') return { length, ...found }
    const isSurer = likely === undefined || (likely.strength === 'likely' && found?.strength === 'named')
    if (found !== undefined && isSurer) likely = { length, ...found }
  }
  return likely ?? nameAbove(lines, at)
}

/** A quick look: most lines have nothing of an attribution. */
function mayBeAttribution(folded: string): boolean {
  return (
    folded.includes('@') ||
    folded.trimEnd().endsWith(':') ||
    folded.includes('--') ||
    mayHaveDate(folded) ||
    isOpened(folded)
  )
}

/** A line that may continue an attribution that was wrapped, also inside the brackets of an address. */
function continues(folded: string, next: Line): boolean {
  const isOpen = folded.lastIndexOf('<') > folded.lastIndexOf('>')
  if (isOpen && /[@>]/.test(next.folded)) return true
  if (next.quoted || isOpened(next.folded)) return false
  const tail = folded.slice(-WINDOW)
  return isOpened(folded) || hasDate(tail) || (addressIn(tail) !== null && wordsIn(folded) <= MAX_NAMED)
}

/** A name that was wrapped ahead of its address. */
function nameAbove(lines: readonly Line[], at: number): Attribution | undefined {
  const [name, next] = [lines[at], lines[at + 1]]
  if (name === undefined || next === undefined || next.quoted || !/^ *[<([]/.test(next.folded)) return undefined
  const folded = `${name.folded.trim()} ${next.folded.trim()}`
  if (folded.length > MAX_LENGTH) return undefined
  const strength = strengthOf(folded, `${name.text.trim()} ${next.text.trim()}`, false)
  return strength && { length: 2, column: 0, strength }
}

function findIn(folded: string, text: string, within: number): Found | undefined {
  if (folded.length <= MAX_LENGTH) {
    const start = /^[ *_-]*/.exec(folded)?.[0].length ?? 0
    let end = folded.length
    while (end > start && DRESS.includes(folded[end - 1] ?? '')) end--
    const dashed = folded.slice(0, start).includes('--') && folded.slice(end).includes('--')
    const strength = strengthOf(folded.slice(start, end), text.slice(start, end), dashed)
    if (strength !== undefined) return { column: 0, strength }
  }
  return mayHaveDate(folded) ? insideOf(folded, text, within) : undefined
}

/** An attribution that begins after words of the writer, or ends ahead of quoted words. */
function insideOf(folded: string, text: string, within: number): Found | undefined {
  let dates = 0
  for (const { index } of folded.matchAll(DATES)) {
    if (index > within + WINDOW || dates++ >= MAX_DATES) return undefined
    if (!hasEnd(folded.slice(index, index + WINDOW))) continue
    for (const start of [startByDate(folded, text, index), startByName(folded, index)]) {
      if (start === undefined || start >= within) continue
      const strength = endsWithin(folded.slice(start, start + WINDOW), text.slice(start, start + WINDOW))
      if (strength === undefined) continue
      const column = withoutDashes(folded, start)
      return { column: folded.slice(0, column).trim() === '' ? 0 : column, strength }
    }
  }
  return undefined
}

/** A quick look: without a colon or a verb at the end there is no attribution. */
function hasEnd(folded: string): boolean {
  return folded.search(COLONS) >= 0 || endsWithVerb(folded)
}

/**
 * How sure an attribution is that begins here, if it ends somewhere in the window. Where more follows on its line it has an
 * address, or what follows is quoted: the lines of a log go on behind a colon too.
 */
function endsWithin(folded: string, text: string): Strength | undefined {
  const last = folded.trimEnd().length
  const ends = [...folded.matchAll(COLONS)].slice(0, MAX_ENDS).map(({ index }) => index + 1)
  for (const end of [...ends, last]) {
    const part = folded.slice(0, end)
    const strength = strengthOf(part, text.slice(0, end), false)
    if (strength === undefined || strength === 'likely') continue
    if (end === last || addressIn(part) !== null || /^ {1,3}>/.test(folded.slice(end))) return strength
  }
  return undefined
}

/** Where an attribution begins whose date is here: at its opening word, or at the day of the week. */
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
  return /(?:^|[.!?] {1,3}|--)$/.test(before) ? date : undefined
}

/** Where an attribution begins whose name and address stand ahead of its date: after the sentence before them. */
function startByName(folded: string, date: number): number | undefined {
  const from = Math.max(0, date - 160)
  const before = folded.slice(from, date)
  const address = addressIn(before)
  if (address === null) return undefined
  const last = [...before.slice(0, address.index).matchAll(/[.!?] {1,3}/g)].at(-1)
  if (last === undefined) return from === 0 ? 0 : undefined
  return from + last.index + last[0].length
}

/** The column ahead of the dashes that belong to an attribution. */
function withoutDashes(folded: string, start: number): number {
  const dashes = /-{2,40} {0,3}$/.exec(folded.slice(Math.max(0, start - 44), start))
  return start - (dashes?.[0].length ?? 0)
}
