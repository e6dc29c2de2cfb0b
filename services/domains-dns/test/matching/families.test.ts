import type { Answer } from '../../src/dns/answer.ts'
import { judgeCname } from '../../src/matching/families/cname.ts'
import { judgeDkim } from '../../src/matching/families/dkim.ts'
import { judgeDmarc } from '../../src/matching/families/dmarc.ts'
import { judgeMxRecord } from '../../src/matching/families/judge.ts'
import { judgeSpf } from '../../src/matching/families/spf.ts'
import { invalid, judgeAll, missing, VALID } from '../../src/matching/families/verdict.ts'
import type { ExpectedRecord, RecordKind } from '../../src/records/expected.ts'

const MX = 'mx.restante.test'
const mx = (...hosts: string[]) => hosts.map((exchange, index) => ({ exchange, priority: index * 5 }))
const mxRecord = (kind: RecordKind): ExpectedRecord => ({ kind, type: 'MX', name: 'a.test', value: MX, priority: 10 })

describe.each<[RecordKind]>([['apex_mx'], ['wildcard_mx'], ['return_mx']])('%s', (kind) => {
  const judge = (allowsOthers: boolean, ...hosts: string[]) => judgeMxRecord(mxRecord(kind), mx(...hosts), allowsOthers)

  it('is valid with the expected host alone, at any priority and in any spelling', () => {
    expect(judge(false, MX)).toEqual(VALID)
    expect(judge(false, 'MX.Restante.test.')).toEqual(VALID)
    expect(judge(false, MX, MX)).toEqual(VALID)
  })

  it('is invalid (duplicate_records) with other hosts beside the expected one', () => {
    expect(judge(false, 'aspmx.l.google.com', MX)).toEqual(invalid('duplicate_records', ['0 aspmx.l.google.com']))
  })

  it('is invalid (value_mismatch) with other hosts only, whatever is allowed', () => {
    const mismatch = invalid('value_mismatch', ['0 other.test', '5 .'])
    expect(judge(false, 'other.test', '')).toEqual(mismatch)
    expect(judge(true, 'other.test', '')).toEqual(mismatch)
  })
})

describe('MX records of a domain that allows a conflicting provider', () => {
  it.each<[RecordKind, boolean]>([
    ['apex_mx', true],
    ['wildcard_mx', true],
    ['return_mx', false],
  ])('%s: the expected host may have others beside it: %s', (kind, isValid) => {
    const verdict = judgeMxRecord(mxRecord(kind), mx(MX, 'aspmx.l.google.com'), true)
    expect(verdict.status).toBe(isValid ? 'VALID' : 'INVALID')
  })
})

describe('the SPF record', () => {
  const EXPECTED = 'v=spf1 include:spf.restante.test -all'

  it.each([
    ['as it is shown', [[EXPECTED]]],
    ['merged with another service', [['v=spf1 include:_spf.other.test include:spf.restante.test ~all']]],
    ['split by the DNS server', [['v=spf1 include:spf.rest', 'ante.test -all']]],
    ['in capitals, with a qualifier and a dot', [['V=SPF1 +INCLUDE:SPF.Restante.test. ?all']]],
    ['beside a TXT record of another kind', [['site-verification=1'], [EXPECTED]]],
  ])('is valid %s', (_, records) => {
    expect(judgeSpf(records, EXPECTED)).toEqual(VALID)
  })

  it('is invalid (duplicate_records) when two policies are published and one matches', () => {
    const other = 'v=spf1 include:_spf.other.test ~all'
    expect(judgeSpf([[other], [EXPECTED]], EXPECTED)).toEqual(invalid('duplicate_records', [other, EXPECTED]))
  })

  it.each([
    ['without the include', 'v=spf1 -all'],
    ['with a longer name', 'v=spf1 include:spf.restante.test.evil.test -all'],
    ['with an include that does not pass', 'v=spf1 -include:spf.restante.test ~all'],
    ['with quotation marks inside', `"${EXPECTED}"`],
  ])('is invalid (value_mismatch) %s', (_, value) => {
    expect(judgeSpf([[value]], EXPECTED)).toEqual(invalid('value_mismatch', [value]))
  })

  it('is missing when only TXT records of other kinds are there', () => {
    expect(judgeSpf([['site-verification=1']], EXPECTED)).toEqual(missing(['site-verification=1']))
    expect(judgeSpf([['v=spf10 include:spf.restante.test']], EXPECTED).status).not.toBe('VALID')
  })
})

describe('the DKIM record', () => {
  const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A+/='
  const EXPECTED = `v=DKIM1; k=rsa; p=${KEY}`

  it.each([
    ['as it is shown', [[EXPECTED]]],
    ['in strings, with blanks in between', [['v=DKIM1; k=rsa; p=MIIBIjANBgkq ', ' hkiG9w0BAQEFAAOCAQ8A+/=']]],
    ['with the tags in another order, and others', [[`t=s; h=sha256; p=${KEY}; k=rsa;`]]],
    ['without v', [[`p=${KEY}`]]],
    ['beside a TXT record without a key', [['anything'], [EXPECTED]]],
  ])('is valid %s', (_, records) => {
    expect(judgeDkim(records, EXPECTED)).toEqual(VALID)
  })

  it('is invalid (duplicate_records) with another key beside ours', () => {
    expect(judgeDkim([['p=AAAA'], [EXPECTED]], EXPECTED)).toEqual(invalid('duplicate_records', ['p=AAAA', EXPECTED]))
  })

  it.each([
    ['another key', 'v=DKIM1; p=AAAA'],
    ['an empty key', 'v=DKIM1; p='],
    ['a key in other case', `v=DKIM1; p=${KEY.toLowerCase()}`],
    ['a key that was cut', `v=DKIM1; k=rsa; p=${KEY.slice(0, 20)}`],
  ])('is invalid (value_mismatch) with %s', (_, value) => {
    expect(judgeDkim([[value]], EXPECTED)).toEqual(invalid('value_mismatch', [value]))
  })

  it('is missing without any key', () => {
    expect(judgeDkim([['anything']], EXPECTED)).toEqual(missing(['anything']))
  })
})

describe('the DMARC record', () => {
  it.each([
    ['v=DMARC1; p=none'],
    ['v=DMARC1;p=quarantine;rua=mailto:other@else.test'],
    ['v=DMARC1; p=REJECT; sp=none; adkim=s'],
  ])('is valid with the owner’s own policy: %s', (value) => {
    expect(judgeDmarc([[value], ['another kind']])).toEqual(VALID)
  })

  it('is invalid (duplicate_records) with several policies', () => {
    const values = ['v=DMARC1; p=none', 'v=DMARC1; p=reject']
    expect(judgeDmarc(values.map((value) => [value]))).toEqual(invalid('duplicate_records', values))
  })

  it.each([['v=DMARC1'], ['v=DMARC1; p=block'], ['v=DMARC1; rua=mailto:a@b.test'], ['"v=DMARC1; p=none"']])(
    'is invalid (value_mismatch) without a valid p: %s',
    (value) => {
      expect(judgeDmarc([[value]])).toEqual(invalid('value_mismatch', [value]))
    },
  )

  it('is missing when nothing there is a policy', () => {
    expect(judgeDmarc([['hello']])).toEqual(missing(['hello']))
  })
})

describe('the tracking CNAME', () => {
  it('is valid when the name is an alias of the expected host itself', () => {
    expect(judgeCname(['Track.Restante.test.'], [], 'track.restante.test')).toEqual(VALID)
  })

  it('is invalid (value_mismatch) as an alias of another host, or with addresses instead', () => {
    expect(judgeCname(['else.test'], [], 'track.restante.test')).toEqual(invalid('value_mismatch', ['else.test']))
    expect(judgeCname([], ['192.0.2.1'], 'track.restante.test')).toEqual(invalid('value_mismatch', ['192.0.2.1']))
  })

  it('is missing without alias and addresses', () => {
    expect(judgeCname([], [], 'track.restante.test')).toEqual(missing())
  })
})

describe('what is shown of a hostile answer', () => {
  it('is short, printable and has at most 10 values', () => {
    const records = Array.from({ length: 50 }, (_, index) => [`${index}\u0000\u0007${'x'.repeat(60_000)}`])
    const { found } = judgeDmarc(records)
    expect(found).toHaveLength(10)
    expect(found[0]).toMatch(/^0\u{FFFD}{2}x+…$/u)
    expect(found[0]?.length).toBe(513)
  })
})

describe('the answers of several resolvers', () => {
  type Txt = Answer<'TXT'>
  const right: Txt = { kind: 'records', records: [['right']] }
  const wrong: Txt = { kind: 'records', records: [['wrong']] }
  const double: Txt = { kind: 'records', records: [['wrong'], ['right']] }
  const absent: Txt = { kind: 'absent', code: 'ENOTFOUND' }
  const failed: Txt = { kind: 'failed', code: 'ESERVFAIL' }
  const judge = (answers: readonly Txt[], wasValid: boolean) =>
    judgeAll(
      answers,
      (records) => {
        const values = records.flat()
        if (!values.includes('right')) return invalid('value_mismatch', values)
        return values.length > 1 ? invalid('duplicate_records', values) : VALID
      },
      { quorum: 2, wasValid },
    )

  it.each<[string, readonly Txt[], string]>([
    ['valid before absent', [absent, right], 'VALID'],
    ['valid before a failure', [failed, right], 'VALID'],
    ['duplicates before a mismatch', [wrong, double], 'duplicate_records'],
    ['a mismatch before absence', [absent, wrong], 'value_mismatch'],
    ['absence of all', [absent, absent], 'MISSING'],
  ])('give the best of them: %s', (_, answers, expected) => {
    const verdict = judge(answers, true)
    expect([verdict?.status, verdict?.reason]).toContain(expected)
  })

  it('say nothing when all fail', () => {
    expect(judge([failed, failed], false)).toBeUndefined()
  })

  it('turn no good record bad unless two resolvers have answered', () => {
    expect(judge([absent, failed], true)).toBeUndefined()
    expect(judge([wrong, failed], true)).toBeUndefined()
    expect(judge([absent, failed], false)).toEqual(missing())
    expect(judge([absent, wrong], true)?.status).toBe('INVALID')
  })
})
