import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HALVES, parseCases, readCases } from './bounces/cases.ts'
import { ours } from './bounces/recogniser.ts'
import { type Outcome, outcomeOf, scoreOf } from './bounces/score.ts'

const MIN_FAILURES = 250
const MIN_OTHERS = 40
const MIN_RIGHT = 0.95

const cases = readCases()
const failures = cases.filter(({ kind }) => kind === 'failure')
const recorded: Record<string, number> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'bounces/scores.json'), 'utf8'),
)
let outcomes: (Outcome & { readonly of: (typeof cases)[number] })[]

beforeAll(async () => {
  outcomes = await Promise.all(cases.map(async (each) => ({ ...(await outcomeOf(each, ours)), of: each })))
})

describe('the recognition of failed deliveries on the labelled set', () => {
  it(`has at least ${MIN_FAILURES} failures of 30 systems in 12 languages, and ${MIN_OTHERS} other mails`, () => {
    expect(failures.length).toBeGreaterThanOrEqual(MIN_FAILURES)
    expect(new Set(failures.map(({ system }) => system)).size).toBeGreaterThanOrEqual(30)
    expect(new Set(failures.map(({ lang }) => lang)).size).toBeGreaterThanOrEqual(12)
    expect(cases.filter(({ recipients }) => recipients.length === 0).length).toBeGreaterThanOrEqual(MIN_OTHERS)
    expect(new Set(cases.map(({ half, name }) => `${half}/${name}`)).size).toBe(cases.length)
  })

  it(`is right in mail, addresses and class on at least ${100 * MIN_RIGHT} %`, () => {
    const read = outcomes.filter(({ of }) => of.kind === 'failure')
    const missed = read.filter(({ classified }) => !classified).map(({ name }) => name)
    expect({ missed, enough: missed.length <= (1 - MIN_RIGHT) * read.length }).toMatchObject({ enough: true })
  })

  it('takes no absence, delay, success, receipt or mail of a person for a failure', () => {
    expect(outcomes.filter(({ mistaken }) => mistaken).map(({ name }) => name)).toEqual([])
  })

  it('blocks no address for the trouble of the sender', () => {
    expect(outcomes.filter(({ blocking }) => blocking).map(({ name }) => name)).toEqual([])
  })

  it.each(HALVES)('is right on as many mails of the %s half as recorded', (half) => {
    const score = scoreOf(outcomes.filter(({ of }) => of.half === half))
    expect(score.classified).toBeGreaterThanOrEqual(recorded[half] ?? score.cases)
  })
})

describe('the file format of the labelled set', () => {
  const label =
    'system: x\nlang: de\nkind: failure\nsender: <>\nbytes: latin1\nrecipient: a@b.test Permanent NoEmail yes\n'

  it('is read with CRLF, in the bytes that it names', () => {
    const [read] = parseCases(`=== mail a\n${label}--- raw\nSubject: ö\n\nx`, 'own')
    expect(read).toMatchObject({
      name: 'a',
      half: 'own',
      mailFrom: '',
      raw: Buffer.from('Subject: ö\r\n\r\nx', 'latin1'),
      recipients: [{ address: 'a@b.test', type: 'Permanent', subType: 'NoEmail', entry: 'yes' }],
    })
  })

  it('is refused when a case lacks a part', () => {
    expect(() => parseCases('=== mail a\nsystem: x\n--- raw\nx', 'own')).toThrow('not a case')
    expect(() => parseCases(`=== mail a\n${label.replace('yes', 'perhaps')}--- raw\nx`, 'own')).toThrow('not a case')
  })
})
