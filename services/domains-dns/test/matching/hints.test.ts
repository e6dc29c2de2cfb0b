import { judgeCname } from '../../src/matching/families/cname.ts'
import { judgeMxRecord, judgeTxtRecord } from '../../src/matching/families/judge.ts'
import type { Verdict } from '../../src/matching/families/verdict.ts'
import { hintFor, type Records } from '../../src/matching/hints/hint.ts'
import { placesFor } from '../../src/matching/hints/places.ts'
import { providerOf } from '../../src/providers/conflict.ts'
import { MAILBOX_PROVIDERS } from '../../src/providers/table.ts'
import { type ExpectedRecord, expectedRecords, type RecordKind } from '../../src/records/expected.ts'

const D = 'shop.example.com'
const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'.repeat(12)
const INSTALLATION = {
  mxHost: 'mx.restante.test',
  returnHost: 'mx.restante.test',
  spfInclude: 'spf.restante.test',
  selector: 'svc1',
  returnPathLabel: 'mail',
  trackingHost: 'track.restante.test',
}
const switches = { name: D, inbound_enabled: true, subdomains_enabled: true, tracking_enabled: true }
const EXPECTED = expectedRecords(switches, { selector: 'svc1', publicKey: KEY }, INSTALLATION)

function expected(kind: RecordKind): ExpectedRecord {
  const record = EXPECTED.find((each) => each.kind === kind)
  if (!record) throw new Error(`no ${kind}`)
  return record
}

/** @param published records by name, as DNS has them. */
function hint(kind: RecordKind, published: Record<string, Records>): string | undefined {
  const record = expected(kind)
  const records = published[record.name] ?? {}
  return hintFor({
    record,
    verdict: verdictOf(record, records),
    domain: D,
    records,
    others: EXPECTED.filter((other) => other.kind !== kind),
    elsewhere: placesFor(record, D).map((place) => ({ ...place, records: recordsFor(place, published) })),
    providerOf: (host) => providerOf(host, MAILBOX_PROVIDERS),
  })
}

function recordsFor({ question }: ReturnType<typeof placesFor>[number], published: Record<string, Records>): Records {
  const { mx, txt, cname } = published[question.name] ?? {}
  if (question.type === 'MX') return mx ? { mx } : {}
  if (question.type === 'TXT') return txt ? { txt } : {}
  return cname ? { cname } : {}
}

function verdictOf(record: ExpectedRecord, { mx = [], txt = [], cname = [], addresses = [] }: Records): Verdict {
  if (record.type === 'CNAME') return judgeCname(cname, addresses, record.value)
  return record.type === 'MX' ? judgeMxRecord(record, mx, false) : judgeTxtRecord(record, txt)
}

const mx = (...hosts: string[]) => ({ mx: hosts.map((exchange) => ({ exchange, priority: 10 })) })
const txt = (...values: string[]) => ({ txt: values.map((value) => [value]) })
const OURS = 'mx.restante.test'

describe('the hint of a record', () => {
  it('is absent for a valid record', () => {
    expect(hint('apex_mx', { [D]: mx(OURS) })).toBeUndefined()
  })

  it.each<[RecordKind, string, string]>([
    ['return_mx', `mail.${D}.${D}`, 'mail'],
    ['return_mx', `mail.${D}.example.com`, 'mail'],
    ['apex_mx', `${D}.${D}`, '@'],
  ])('names the place to which the panel has moved it (%s at %s)', (kind, place, relative) => {
    expect(hint(kind, { [place]: mx(OURS) })).toContain(
      `at ${place}: the DNS panel appends the domain itself. Enter the name as ${relative},`,
    )
  })

  it('names the place of a TXT record and a CNAME that were moved', () => {
    expect(hint('dkim', { [`svc1._domainkey.${D}.${D}`]: txt(expected('dkim').value) })).toContain('svc1._domainkey,')
    expect(hint('tracking', { [`link.${D}.${D}`]: { cname: ['track.restante.test'] } })).toContain(
      'Enter the name as link',
    )
  })

  it.each<[RecordKind, string]>([
    ['dkim', `svc1.domainkey.${D}`],
    ['dkim', `svc1.${D}`],
    ['dmarc', `dmarc.${D}`],
    ['dmarc', D],
    ['spf', D],
  ])('names the wrong name of the %s record: %s', (kind, place) => {
    const { name, value } = expected(kind)
    expect(hint(kind, { [place]: txt(value) })).toBe(`The record is published at ${place}. Its name must be ${name}.`)
  })

  it('tells that an alias has no records of its own, also at the apex', () => {
    expect(hint('apex_mx', { [D]: { cname: ['host.else.test.'] } })).toContain(
      `${D} is an alias (CNAME) of host.else.test`,
    )
    expect(hint('dmarc', { [`_dmarc.${D}`]: { cname: ['x.test'] } })).toContain('publish the TXT record')
  })

  it.each<[RecordKind]>([['spf'], ['dkim'], ['dmarc']])('recognizes quotation marks inside the %s record', (kind) => {
    const { name, value } = expected(kind)
    const text = 'The value is published with quotation marks inside it. Enter it without them, as one text.'
    expect(hint(kind, { [name]: txt(`"${value}"`) })).toBe(text)
    expect(hint(kind, { [name]: txt(`\\"${value}\\"`) })).toBe(text)
  })

  it('recognizes a key that is split over several TXT records, in any order, also with blanks', () => {
    const { name, value } = expected('dkim')
    const parts = [value.slice(0, 200), ` ${value.slice(200)}`]
    expect(hint('dkim', { [name]: txt(...parts.reverse()) })).toContain('split over several TXT records')
  })

  it('recognizes quotation marks between the parts of a key', () => {
    const { name, value } = expected('dkim')
    expect(hint('dkim', { [name]: txt(`${value.slice(0, 200)}" "${value.slice(200)}`) })).toContain('quotation marks')
  })

  it('recognizes a key that the panel has cut', () => {
    const { name, value } = expected('dkim')
    expect(hint('dkim', { [name]: txt(value.slice(0, 255)) })).toContain(
      `ends after ${255 - 18} of ${KEY.length} characters`,
    )
  })

  it('tells of another key beside ours, and of a revoked one', () => {
    const { name, value } = expected('dkim')
    expect(hint('dkim', { [name]: txt(value, 'v=DKIM1; p=AAAA') })).toContain('Another key is published')
    expect(hint('dkim', { [name]: txt('v=DKIM1; p=') })).toContain('revoked')
  })

  it('recognizes the value of another record', () => {
    const { name } = expected('dmarc')
    const dkim = expected('dkim')
    expect(hint('dmarc', { [name]: txt(dkim.value) })).toBe(
      `This is the value of the TXT record at ${dkim.name}. Publish it there.`,
    )
  })

  it('tells how many policies a name may have', () => {
    expect(hint('spf', { [expected('spf').name]: txt('v=spf1 -all') })).toContain(
      'exactly one TXT record that begins with v=spf1',
    )
    expect(hint('dmarc', { [expected('dmarc').name]: txt('v=DMARC1') })).toContain(
      'exactly one TXT record with v=DMARC1',
    )
  })

  it('names the mailbox provider whose MX records are there as well, or instead', () => {
    expect(hint('apex_mx', { [D]: mx(OURS, 'aspmx.l.google.com') })).toContain(
      'also received by aspmx.l.google.com (Google Workspace)',
    )
    expect(hint('apex_mx', { [D]: mx('a.unknown.test') })).toContain('Mail is received by a.unknown.test instead')
    expect(hint('return_mx', { [`mail.${D}`]: mx(OURS, 'b.test') })).toContain(`Only ${OURS} may be there`)
  })

  it('recognizes a target to which the panel has appended the domain', () => {
    expect(hint('apex_mx', { [D]: mx(`${OURS}.${D}`) })).toContain(`published as ${OURS}.${D}`)
    expect(hint('apex_mx', { [D]: mx(`${OURS}.example.com`) })).toContain('with a dot at its end')
    expect(hint('tracking', { [`link.${D}`]: { cname: [`track.restante.test.${D}`] } })).toContain(
      'with a dot at its end',
    )
  })

  it('recognizes a CNAME that the provider proxies', () => {
    expect(hint('tracking', { [`link.${D}`]: { addresses: ['192.0.2.1'] } })).toContain('turn the proxy off')
  })

  it('tells that a wildcard does not cover a name with records of its own', () => {
    const published = { [`*.${D}`]: mx(OURS), [`mail.${D}`]: txt(expected('spf').value) }
    expect(hint('return_mx', published)).toContain(`The wildcard *.${D} does not cover mail.${D}`)
  })

  it('needs at most 6 questions', () => {
    for (const record of EXPECTED) expect(placesFor(record, D).length).toBeLessThanOrEqual(6)
  })
})
