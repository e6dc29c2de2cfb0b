import { parseDay, parseWallTime } from '../wall/wall-time.ts'
import { checkCombination } from './combinations.ts'
import { type DayOfWeek, FREQUENCIES, type Rule, WEEKDAYS, type Weekday } from './rule.ts'

/** A rule that is not valid; the message says which part is wrong, and what it may be. */
export class InvalidRuleError extends Error {
  override readonly name = 'InvalidRuleError'
}

/** Whether an event has a time of day or takes whole days. */
export interface RuleContext {
  readonly allDay: boolean
}

/** Longer texts are refused unread. A rule in normal form that has every part once is shorter, unless its lists are long. */
const MOST_CHARACTERS = 4_096
const MOST_INTERVAL = 366
const MOST_COUNT = 10_000

type Parts = ReadonlyMap<string, string>

/** RFC 5545 3.3.10 gives signs only to numbers that can count from the end. */
const SIGNED = /^[+-]?\d{1,3}$/
const UNSIGNED = /^\d{1,2}$/

/** Numbers of a list part: from 1 or 0 to `most`, and from the end where `signed`. */
const LISTS = {
  BYMONTH: { least: 1, most: 12, signed: false },
  BYWEEKNO: { least: 1, most: 53, signed: true },
  BYYEARDAY: { least: 1, most: 366, signed: true },
  BYMONTHDAY: { least: 1, most: 31, signed: true },
  BYHOUR: { least: 0, most: 23, signed: false },
  BYMINUTE: { least: 0, most: 59, signed: false },
  BYSECOND: { least: 0, most: 59, signed: false },
  BYSETPOS: { least: 1, most: 366, signed: true },
} as const
type ListPart = keyof typeof LISTS

const KNOWN: ReadonlySet<string> = new Set([
  'FREQ',
  'INTERVAL',
  'COUNT',
  'UNTIL',
  'WKST',
  'BYDAY',
  ...Object.keys(LISTS),
])

/**
 * Reads the value of an RRULE, with or without the name of the property.
 * @throws InvalidRuleError for anything that RFC 5545 3.3.10 does not allow in an event of this kind. An event has
 * no leap second: BYSECOND=60 is refused.
 */
export function parseRule(text: string, { allDay }: RuleContext): Rule {
  const parts = partsOf(text)
  const count = wholeNumber(parts, 'COUNT', MOST_COUNT)
  const until = untilOf(parts, allDay)
  if (count !== undefined && until !== undefined) throw new InvalidRuleError('COUNT and UNTIL exclude each other')
  const rule: Rule = {
    frequency: oneOf(parts, 'FREQ', FREQUENCIES) ?? missingFrequency(),
    interval: wholeNumber(parts, 'INTERVAL', MOST_INTERVAL) ?? 1,
    ...(count !== undefined && { count }),
    ...(until !== undefined && { until }),
    weekStart: oneOf(parts, 'WKST', WEEKDAYS) ?? 'MO',
    byMonth: numbers(parts, 'BYMONTH'),
    byWeekNumber: numbers(parts, 'BYWEEKNO'),
    byYearDay: numbers(parts, 'BYYEARDAY'),
    byMonthDay: numbers(parts, 'BYMONTHDAY'),
    byDay: daysOfWeek(parts),
    byHour: numbers(parts, 'BYHOUR'),
    byMinute: numbers(parts, 'BYMINUTE'),
    bySecond: numbers(parts, 'BYSECOND'),
    byPosition: numbers(parts, 'BYSETPOS'),
  }
  const problem = checkCombination(rule, allDay)
  if (problem !== undefined) throw new InvalidRuleError(problem)
  return rule
}

function missingFrequency(): never {
  throw new InvalidRuleError('FREQ is missing')
}

function partsOf(text: string): Parts {
  if (text.length > MOST_CHARACTERS) throw new InvalidRuleError(`A rule has at most ${MOST_CHARACTERS} characters`)
  // Upper case makes ASCII of some other letters, such as a dotless i.
  if (!/^[!-~]*$/.test(text)) throw new InvalidRuleError('A rule has no blanks, and no characters outside ASCII')
  const parts = new Map<string, string>()
  for (const part of text
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .split(';')) {
    const [name = '', value = '', ...more] = part.split('=')
    if (!KNOWN.has(name)) throw new InvalidRuleError(`${shown(name)} is not a part of a rule`)
    if (value === '' || more.length > 0) throw new InvalidRuleError(`${name} must have the form ${name}=value`)
    if (parts.has(name)) throw new InvalidRuleError(`${name} occurs twice`)
    parts.set(name, value)
  }
  return parts
}

function shown(name: string): string {
  return name === '' ? 'An empty part' : name.slice(0, 32)
}

function oneOf<const T extends string>(parts: Parts, name: string, values: readonly T[]): T | undefined {
  const given = parts.get(name)
  if (given === undefined) return undefined
  const found = values.find((value) => value === given)
  if (found === undefined) throw new InvalidRuleError(`${name} must be one of ${values.join(', ')}`)
  return found
}

function wholeNumber(parts: Parts, name: string, most: number): number | undefined {
  const given = parts.get(name)
  if (given === undefined) return undefined
  const value = Number(given)
  if (/^\d{1,5}$/.test(given) && value >= 1 && value <= most) return value
  throw new InvalidRuleError(`${name} must be a whole number from 1 to ${most}`)
}

function untilOf(parts: Parts, allDay: boolean): string | undefined {
  const given = parts.get('UNTIL')
  if (given === undefined) return undefined
  const [, year, month, day, hours, minutes, seconds] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})Z)?$/.exec(given) ?? []
  const date = `${year}-${month}-${day}`
  const isDay = hours === undefined && parseDay(date) !== undefined
  const isTime = hours !== undefined && parseWallTime(`${date}T${hours}:${minutes}:${seconds}`) !== undefined
  if (allDay ? isDay : isTime) return given
  throw new InvalidRuleError(
    allDay ? 'UNTIL of whole days must have the form YYYYMMDD' : 'UNTIL must be in UTC, in the form YYYYMMDDTHHMMSSZ',
  )
}

function numbers(parts: Parts, name: ListPart): number[] {
  const given = parts.get(name)
  if (given === undefined) return []
  const { least, most, signed } = LISTS[name]
  const values = given.split(',').map((word) => {
    const value = Number(word)
    const size = Math.abs(value)
    const form = signed ? SIGNED : UNSIGNED
    if (form.test(word) && size >= least && size <= most) return value
    const range = `${least} to ${most}${signed ? ', or the same with a minus' : ''}`
    throw new InvalidRuleError(`Each value of ${name} must be a whole number from ${range}`)
  })
  return [...new Set(values)].sort((a, b) => a - b)
}

function daysOfWeek(parts: Parts): DayOfWeek[] {
  const words = parts.get('BYDAY')?.split(',') ?? []
  const days = words.map((word) => {
    const [, ordinal, name] = /^([+-]?\d{1,2})?([A-Z]{2})$/.exec(word) ?? []
    const weekday = WEEKDAYS.find((each) => each === name)
    const number = ordinal === undefined ? undefined : Number(ordinal)
    if (weekday === undefined || (number !== undefined && (number === 0 || Math.abs(number) > 53))) {
      throw new InvalidRuleError(
        'Each value of BYDAY must be a weekday, such as MO, or its position, such as 1MO or -1FR',
      )
    }
    return number === undefined ? { weekday } : { weekday, ordinal: number }
  })
  return [...new Map(days.map((day) => [`${day.ordinal ?? ''}${day.weekday}`, day])).values()].sort(byPlace)
}

/** By position, those without one between the positions from the end and those from the start. */
function byPlace(a: DayOfWeek, b: DayOfWeek): number {
  return (a.ordinal ?? 0) - (b.ordinal ?? 0) || place(a.weekday) - place(b.weekday)
}

function place(weekday: Weekday): number {
  return WEEKDAYS.indexOf(weekday)
}
