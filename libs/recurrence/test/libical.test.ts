import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expand, formatWallTime, InvalidRuleError, parseRule } from '../src/index.ts'
import { at, take } from './support.ts'

const FOLDER = path.join(import.meta.dirname, 'vectors/libical')

/** What libical says of a rule in its own tests. */
interface Vector {
  readonly rule: string
  readonly start: string
  /** Where the expansion begins, when that is not the start. */
  readonly from: string | undefined
  readonly instances: string
}

const vectors = readdirSync(FOLDER)
  .filter((name) => name.startsWith('icalrecur_test'))
  .flatMap((name) => readFileSync(path.join(FOLDER, name), 'utf8').split(/\n\s*\n/))
  .flatMap(vectorOf)

/** Rules that are refused, and what RFC 5545 or RFC 7529 says of them. */
const REFUSED: Readonly<Record<string, string>> = {
  // A calendar service may not support RFC 7529; RSCALE and SKIP are its parts.
  'RSCALE=': 'RSCALE is not a part of a rule',
  // Not of the grammar. What is read of a mail leaves it out.
  'BYDAY=MO;$': 'An empty part is not a part of a rule',
  // Only of a start without a zone, which no event has.
  'UNTIL=20200101T000000$': 'UNTIL must be in UTC',
  // It must not be given, and is ignored in what is read of a mail.
  'FREQ=DAILY;BYMINUTE=1,2,3,4;INTERVAL=2;COUNT=3': 'need a time of day',
}

/** Where libical takes BYMONTHDAY of a year as that of the month of the start: it expands a year (RFC 5545 3.3.10, table). */
const RULINGS: Readonly<Record<string, string>> = {
  'FREQ=YEARLY;BYMONTHDAY=29;COUNT=3': '20240229,20240329,20240429',
  'FREQ=YEARLY;BYMONTHDAY=-29,-1;COUNT=4': '20240201,20240229,20240303,20240331',
}

describe('rules of the tests of libical', () => {
  it('are expanded as these tests say, or as RFC 5545 decides', () => {
    const expanded = vectors.filter(({ rule }) => refusalOf(rule) === undefined)
    const wrong = expanded.filter((vector) => datesOf(vector) !== (RULINGS[vector.rule] ?? vector.instances))
    expect(expanded).toHaveLength(75)
    expect(wrong).toEqual([])
  })

  it('are refused where they are not of RFC 5545 or of no event', () => {
    const refused = vectors.filter(({ rule }) => refusalOf(rule) !== undefined)
    expect(refused).toHaveLength(37)
    for (const { rule, start } of refused) {
      const read = () => parseRule(rule, { allDay: isDay(start) })
      expect(read).toThrow(InvalidRuleError)
      expect(read).toThrow(refusalOf(rule))
    }
  })

  it('are known by their names where they are refused or ruled on', () => {
    for (const pattern of Object.keys(REFUSED))
      expect(vectors.some(({ rule }) => new RegExp(pattern).test(rule))).toBe(true)
    for (const ruled of Object.keys(RULINGS)) expect(vectors.some(({ rule }) => rule === ruled)).toBe(true)
  })
})

function refusalOf(rule: string): string | undefined {
  return Object.entries(REFUSED).find(([pattern]) => new RegExp(pattern).test(rule))?.[1]
}

function vectorOf(block: string): Vector[] {
  const value = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(block)?.[1]
  const [rule, start, instances] = [value('RRULE'), value('DTSTART'), value('INSTANCES')]
  if (rule === undefined || start === undefined || instances === undefined) return []
  return [{ rule, start, from: value('START-AT'), instances: instances.replaceAll('Z', '') }]
}

/** The dates of a rule in the form of these tests, and one more than they have when it has more. */
function datesOf({ rule, start, from, instances }: Vector): string {
  const read = parseRule(rule, { allDay: isDay(start) })
  const until = read.until === undefined ? Number.POSITIVE_INFINITY : wallTimeOf(read.until)
  const times = expand(read, wallTimeOf(start), {
    ...(from !== undefined && { from: wallTimeOf(from) }),
    isAfterEnd: (time) => time > until,
  })
  const length = isDay(start) ? 8 : 15
  return take(instances.split(',').length + 1, times)
    .map((time) => formatWallTime(time).replaceAll(/[-:]/g, '').slice(0, length))
    .join(',')
}

function isDay(text: string): boolean {
  return !text.includes('T')
}

/** A time of these tests, such as 20240229 or 20240229T090000Z, on a clock of UTC. */
function wallTimeOf(text: string): number {
  const [, year, month, day, time = '000000'] = /^(\d{4})(\d\d)(\d\d)(?:T(\d{6}))?Z?$/.exec(text) ?? []
  return at(`${year}-${month}-${day}T${time.replaceAll(/(\d\d)(?=\d)/g, '$1:')}`)
}
