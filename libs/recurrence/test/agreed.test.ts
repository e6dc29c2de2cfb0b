import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expand, formatRule, formatWallTime, parseRule } from '../src/index.ts'
import { at } from './support.ts'

const DATES = 60
const TWELVE_YEARS = 12 * 365 * 86_400

const vectors = readFileSync(path.join(import.meta.dirname, 'vectors/agreed.txt'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('|'))

describe('rules of which dateutil and libical say the same', () => {
  it('are expanded as they say', () => {
    const wrong = vectors.filter(([rule = '', start = '', count, digest]) => {
      const dates = datesOf(rule, start)
      const own = createHash('sha256').update(dates.join(',')).digest('hex').slice(0, 16)
      return String(dates.length) !== count || own !== digest
    })
    expect(vectors.length).toBeGreaterThan(2_500)
    expect(wrong).toEqual([])
  })

  it('have a normal form that means the same', () => {
    for (const [rule = ''] of vectors) {
      const read = parseRule(rule, { allDay: false })
      expect(parseRule(formatRule(read), { allDay: false })).toEqual(read)
    }
  })
})

function datesOf(rule: string, start: string): string[] {
  const begin = at(start)
  const dates: string[] = []
  for (const time of expand(parseRule(rule, { allDay: false }), begin)) {
    if (time > begin + TWELVE_YEARS || dates.length === DATES) break
    dates.push(formatWallTime(time))
  }
  return dates
}
