import { ADDRESS, DATE, TIME } from '../vocabulary/dates.ts'
import { anyOf, anyWordOf, wordsOf } from '../vocabulary/match.ts'

/**
 * How sure an attribution is. A `certain` one says who wrote, with an address, and when, as only a program does; a `named`
 * one says so without an address, as people who keep a log do, too; a `likely` one counts only above quoted lines.
 */
export type Strength = 'certain' | 'named' | 'likely'

const ON = anyOf(wordsOf('on'))
const DATE_IN = new RegExp(DATE, 'u')
/** What every date has; far cheaper to look for. */
const DATED = /(?:1[34]|19|20|25)\d\d|\d\s?[-/.]\s?\d{1,2}\s?[-/.]\s?\d|\d[-/]\p{L}{3}/u
const TIME_IN = new RegExp(TIME, 'u')
const ADDRESS_IN = new RegExp(ADDRESS, 'u')
const VERB = new RegExp(anyWordOf(wordsOf('wrote')), 'gu')
const VERB_LAST = new RegExp(`${anyWordOf(wordsOf('wrote'))} {0,3}$`, 'u')
const MAX_VERB = 40
/** What may stand ahead of the date: an opening word, the day of the week, the time. */
const LEAD = new RegExp(`^["'(]?(?:${ON}(?:[ ]{1,3}[^ ]{1,14}){0,2}|[^ ]{0,14}),?[ ]{0,3}$`, 'u')
const OPENED = new RegExp(`^ {0,8}${ON}[ ]`, 'u')
const QUOTING = new RegExp(`^${anyOf(wordsOf('quoting'))}[ ]`, 'u')
const SENTENCE_END =
  /\p{L}{4}\.[ ]|[!?][ ]|[.!?](?=\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul})/u
/** Words of a name that are not capitalised. */
const PARTICLE = /^(?:de|van|von|der|den|da|di|del|la|le|bin|al|el|do|dos|das|e|y|ter|ten|te|du|des|zu)$/u
/** What may stand beside a name between the time and the verb. */
const BESIDE_NAME = /^(?:[ap]\.?m\.?,?|[ap]\.|m\.,?|uhr,?|uur,?|ч\.?,?|hat|heeft|via)$/u

/** Without a date and an address an attribution is a name and a verb, which take no more. */
const MAX_UNDATED = 100
const MAX_NAME_WORDS = 5
const MAX_ADDRESSED_WORDS = 7
/** A person who mentions a date and a time goes on for longer. */
const MAX_DATED_WORDS = 16

export function hasDate(folded: string): boolean {
  return mayHaveDate(folded) && DATE_IN.test(folded)
}

/** A quick look for `hasDate`: false only where there is none. */
export function mayHaveDate(folded: string): boolean {
  return DATED.test(folded)
}

/** Whether a folded line begins with a word that precedes a date. */
export function isOpened(folded: string): boolean {
  return /\d/.test(folded) && OPENED.test(folded)
}

export function endsWithVerb(folded: string): boolean {
  return VERB_LAST.test(folded.slice(-MAX_VERB))
}

/** The first address of a folded line. */
export function addressIn(folded: string): RegExpExecArray | null {
  return folded.includes('@') ? ADDRESS_IN.exec(folded) : null
}

interface Facts {
  readonly body: string
  /** As written. */
  readonly text: string
  readonly dashed: boolean
  /** It has an end: a colon, the verb, dashes. */
  readonly ends: boolean
  readonly date: RegExpExecArray | null
  readonly address: RegExpExecArray | null
  readonly verb: RegExpExecArray | undefined
}

/**
 * How surely a text, from its beginning to its end, is an attribution.
 * @param text as written, of the same length
 * @param dashed it stands between dashes
 */
export function strengthOf(folded: string, text: string, dashed: boolean): Strength | undefined {
  const trimmed = folded.trimEnd()
  const closed = trimmed.endsWith(':')
  const body = closed ? trimmed.slice(0, -1).trimEnd() : trimmed
  const address = addressIn(body)
  const date = DATED.test(body) ? DATE_IN.exec(body) : null
  if (address === null && date === null && (!(closed || dashed) || body.length > MAX_UNDATED)) return undefined
  const verbs = [...body.matchAll(VERB)]
  const last = verbs.at(-1)
  const ends = closed || dashed || (last !== undefined && last.index + last[0].length === body.length)
  const facts = { body, text, dashed, ends, date, address, verb: verbs[0] }
  const strength = date !== null && LEAD.test(body.slice(0, date.index)) ? ofDate({ ...facts, date }) : ofName(facts)
  return strength ?? (closed ? ofAnyLanguage(facts) : undefined)
}

/** An attribution in words that are not known: a program writes the time and, in angle brackets, the address. */
function ofAnyLanguage({ body, text, date, address, verb }: Facts): Strength | undefined {
  if (date === null || address === null || verb !== undefined || wordsIn(body) > MAX_DATED_WORDS) return undefined
  if (SENTENCE_END.test(body) || /[.!?]\s+\p{Lu}/u.test(text)) return undefined
  return hasTime(body, date) && /< *$/.test(body.slice(0, address.index)) ? 'likely' : undefined
}

/** An attribution that begins with its date. */
function ofDate(facts: Facts & { date: RegExpExecArray }): Strength | undefined {
  const { body, ends, date, address, verb } = facts
  const timed = hasTime(body, date)
  const isLast = address !== null && /^[^\p{L}\p{N}]{0,4}$/u.test(body.slice(address.index + address[0].length))
  if (!ends) return isLast ? 'likely' : undefined
  if (verb !== undefined) {
    if (address !== null) return 'certain'
    return timed && isByName(facts) ? 'named' : 'likely'
  }
  if (address !== null) return timed && isLast ? 'certain' : 'likely'
  return timed && body.length <= MAX_UNDATED + 20 ? 'likely' : undefined
}

/** Whether nothing but a name and the verb follow the date and the time, unlike in "On Monday at 9:10 the bank wrote:". */
function isByName({ body, text, date }: Facts & { date: RegExpExecArray }): boolean {
  if (wordsIn(body) > MAX_DATED_WORDS || (isOpened(body) && /^\P{L}*\p{Ll}/u.test(text))) return false
  const after = date.index + date[0].length
  const time = TIME_IN.exec(body.slice(after))
  const start = after + (time === null ? 0 : time.index + time[0].length)
  const named = body.slice(start).replace(VERB, (verb) => ' '.repeat(verb.length))
  return [...named.matchAll(/[^ ]+/g)].every(({ 0: word, index }) => {
    const isLower = /^\p{Ll}/u.test(text.slice(start + index))
    return !isLower || PARTICLE.test(word) || BESIDE_NAME.test(word)
  })
}

/** An attribution that begins with a name, or with an opening word that no date follows. */
function ofName({ body, text, dashed, ends, date, address, verb }: Facts): Strength | undefined {
  if (QUOTING.test(body)) return date !== null && address !== null ? 'certain' : ends ? 'likely' : undefined
  if (verb !== undefined && address !== null && ends && OPENED.test(body)) return /\d/.test(body) ? 'certain' : 'likely'
  const name = body.slice(0, address?.index ?? Math.min(verb?.index ?? body.length, date?.index ?? body.length))
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

export function wordsIn(body: string): number {
  return body.split(' ').filter((word) => word !== '').length
}

/** What stands ahead of an address or a verb: a name, not the beginning of a sentence. */
function isName(name: string, text: string, addressed: boolean): boolean {
  if (/[!?;:]/.test(name) || SENTENCE_END.test(name)) return false
  const raw = text.slice(0, name.length)
  const words = raw.split(/\s+/).filter((word) => word !== '')
  if (addressed) {
    return words.length <= MAX_ADDRESSED_WORDS && (words.length === 0 || /[<([]\s*(?:mailto:\s*)?$/i.test(raw))
  }
  if (words.length > MAX_NAME_WORDS || name.length > MAX_UNDATED) return false
  return words.length <= 1 || / via /.test(name) || words.every((word) => !/^\p{Ll}/u.test(word) || PARTICLE.test(word))
}
