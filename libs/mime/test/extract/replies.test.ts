import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HALVES, parseCases, readCases } from './replies/cases.ts'
import { EXTRACTORS, ours } from './replies/extractors.ts'
import { outcomeOf, scoreOf } from './replies/score.ts'

const MIN_CASES = 300
const MIN_EXACT = 0.95

const cases = readCases()
const outcomes = cases.flatMap((each) => {
  const outcome = outcomeOf(each, ours)
  return outcome === undefined ? [] : [{ ...outcome, half: each.half }]
})
const recorded: Record<string, number> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'replies/scores.json'), 'utf8'),
)

describe('reply extraction on the labelled set', () => {
  it(`has at least ${MIN_CASES} replies, each under a name of its own`, () => {
    expect(cases.length).toBeGreaterThanOrEqual(MIN_CASES)
    expect(new Set(cases.map(({ half, name }) => `${half}/${name}`)).size).toBe(cases.length)
  })

  it(`is exactly right on at least ${100 * MIN_EXACT} %`, () => {
    const missed = outcomes.filter(({ exact }) => !exact).map(({ half, name }) => `${half}/${name}`)
    expect({ missed, enough: missed.length <= (1 - MIN_EXACT) * cases.length }).toMatchObject({ enough: true })
  })

  it('loses no word that a writer wrote', () => {
    expect(outcomes.filter(({ lost }) => lost.length > 0).map(({ name, lost }) => `${name}: ${lost}`)).toEqual([])
  })

  it.each(HALVES)('is right on as many replies of the %s half as recorded', (half) => {
    const score = scoreOf(outcomes.filter((each) => each.half === half))
    expect(score.exact).toBeGreaterThanOrEqual(recorded[half] ?? score.cases)
  })

  it.each(EXTRACTORS.slice(1))('is right on more replies than $name', ({ extract }) => {
    const theirs = cases.flatMap((each) => {
      const outcome = outcomeOf(each, extract)
      return outcome === undefined ? [] : [{ ...outcome, half: each.half }]
    })
    const read = new Set(theirs.map(({ half, name }) => `${half}/${name}`))
    const mine = outcomes.filter(({ half, name }) => read.has(`${half}/${name}`))
    expect(scoreOf(mine).exact).toBeGreaterThan(scoreOf(theirs).exact)
  })
})

describe('the file format of the labelled set', () => {
  it('is read without changing a body', () => {
    const file =
      '=== case a\nlang: de\nkind: text\n--- body\n x \n\n> y\n--- expected\nx\n=== case b\nlang: en\nkind: html\n--- body\n<p>\n--- expected\n'
    expect(parseCases(file, 'own')).toEqual([
      { name: 'a', half: 'own', lang: 'de', kind: 'text', body: ' x \n\n> y', expected: 'x\n' },
      { name: 'b', half: 'own', lang: 'en', kind: 'html', body: '<p>', expected: '' },
    ])
  })

  it('is refused when a case lacks a part', () => {
    expect(() => parseCases('=== case a\nlang: de\n--- body\nx\n', 'own')).toThrow('not a case')
  })
})
