import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expand, type Instant, parseRule, Zone } from '../../src/index.ts'
import { at } from '../support.ts'

const DATES = 60
const TEN_YEARS = 10 * 365 * 86_400
const [FROM, TO] = [Date.UTC(1980) / 1_000, Date.UTC(2026) / 1_000]

describe('zones', () => {
  it('have the instants of dates that dateutil and libical say, in 22 zones', () => {
    const vectors = read('zones.txt')
    const wrong = vectors.filter(([rule = '', zone = '', start = '', count, hash]) => {
      const instants = instantsOf(rule, Zone.of(zone), start)
      return String(instants.length) !== count || digest(instants.join(',')) !== hash
    })
    expect(vectors.length).toBeGreaterThanOrEqual(2_000)
    expect(wrong).toEqual([])
  })

  it('change their clocks when the compiled time zone data says', () => {
    const vectors = read('transitions.txt')
    const wrong = vectors.filter(([zone = '', count, hash]) => {
      const found = Zone.of(zone).transitions(FROM + 1, TO)
      const text = found.map(({ at, before, after }) => `${at}:${before}:${after}`).join(' ')
      return String(found.length) !== count || digest(text) !== hash
    })
    expect(vectors.length).toBeGreaterThan(60)
    expect(wrong).toEqual([])
  })
})

function instantsOf(text: string, zone: Zone, start: string): Instant[] {
  const begin = at(start)
  const instants: Instant[] = []
  for (const time of expand(parseRule(text, { allDay: false }), begin)) {
    if (time > begin + TEN_YEARS || instants.length === DATES) break
    instants.push(zone.instantOf(time))
  }
  return instants
}

function read(name: string): string[][] {
  const text = readFileSync(path.join(import.meta.dirname, '../vectors', name), 'utf8')
  return text
    .trim()
    .split('\n')
    .map((line) => line.split('|'))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
