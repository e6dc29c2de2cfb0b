import { DnsZone } from '@restante/testkit'
import { type InspectOptions, inspect } from '../../src/checks/findings.ts'
import { Resolvers } from '../../src/dns/resolvers.ts'
import { MAILBOX_PROVIDERS } from '../../src/providers/table.ts'
import type { DomainRow } from '../../src/registrations/store.ts'
import { row } from '../status/rows.ts'
import { INSTALLATION } from '../support/published.ts'

const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A'
const MX = { type: 'MX', exchange: INSTALLATION.mxHost, priority: 10 } as const

let zone: DnsZone
let resolvers: Resolvers
let names = 0

beforeAll(async () => {
  zone = await new DnsZone().start()
  resolvers = new Resolvers({ servers: [zone.address] })
})
afterAll(() => zone.stop())

/** A registration of a name that no other test uses. */
function registered(values: Partial<DomainRow> = {}): DomainRow {
  return row({ name: `n${++names}.example`, ...values })
}

function look(domain: DomainRow, keepsHints = false) {
  const options: InspectOptions = {
    ask: (question) => resolvers.askAll(question),
    quorum: resolvers.quorum,
    installation: INSTALLATION,
    providers: MAILBOX_PROVIDERS,
    checkSending: async () => ({ dkim: 'passed', mail_from: 'passed' }),
    keepsHints,
  }
  return inspect(options, domain, { selector: 'svc1', publicKey: KEY })
}

function publishAll({ name }: DomainRow): void {
  zone.set(name, MX)
  zone.set(`mail.${name}`, MX, { type: 'TXT', data: 'v=spf1 include:spf.restante.test -all' })
  zone.set(`svc1._domainkey.${name}`, { type: 'TXT', data: `v=DKIM1; k=rsa; p=${KEY}` })
  zone.set(`_dmarc.${name}`, { type: 'TXT', data: 'v=DMARC1; p=reject' })
}

describe('a check', () => {
  it('finds published records valid with 5 queries, and then checks sending', async () => {
    const domain = registered()
    publishAll(domain)
    const { records, sending } = await look(domain)
    expect(Object.values(records).map(({ status }) => status)).toEqual(['VALID', 'VALID', 'VALID', 'VALID', 'VALID'])
    expect(sending).toEqual({ dkim: 'passed', mail_from: 'passed' })
    expect(zone.questions.filter(({ name }) => name.endsWith(domain.name))).toHaveLength(5)
  })

  it('does not check sending of a verified domain, nor before all records are valid', async () => {
    const domain = registered()
    publishAll(domain)
    expect(await look({ ...domain, status: 'VERIFIED' })).not.toHaveProperty('sending')
    zone.remove(`_dmarc.${domain.name}`)
    expect(await look(domain)).not.toHaveProperty('sending')
  })

  it('asks only for records that the domain needs', async () => {
    const domain = registered({ inbound_enabled: false })
    const { required } = await look(domain)
    expect(required).toEqual(['return_mx', 'spf', 'dkim', 'dmarc'])
  })

  it('reports no answer for records whose servers fail', async () => {
    const domain = registered()
    publishAll(domain)
    zone.fail(`_dmarc.${domain.name}`)
    expect((await look(domain)).answered).toEqual(['apex_mx', 'return_mx', 'spf', 'dkim'])
  })
})

describe('the wildcard MX record', () => {
  const find = async (domain: DomainRow) => (await look({ ...domain, subdomains_enabled: true })).records.wildcard_mx

  it('is valid when a name without records of its own is covered', async () => {
    const domain = registered()
    const covered = new RegExp(`^[0-9a-f]{16}\\.${domain.name}$`)
    zone.rule((name) => (covered.test(name) ? [MX] : undefined))
    expect(await find(domain)).toMatchObject({ status: 'VALID' })
  })

  it('is valid when the wildcard itself is found', async () => {
    const domain = registered()
    zone.set(`*.${domain.name}`, MX)
    expect(await find(domain)).toMatchObject({ status: 'VALID' })
  })

  it('keeps its status unless both questions are answered', async () => {
    const domain = registered()
    zone.fail(`*.${domain.name}`)
    expect(await find(domain)).toBeUndefined()
  })

  it('is missing, and names the host that is there instead', async () => {
    const domain = registered()
    expect(await find(domain)).toMatchObject({ status: 'MISSING' })
    zone.set(`*.${domain.name}`, { type: 'MX', exchange: 'else.test', priority: 5 })
    expect(await find(domain)).toMatchObject({ status: 'INVALID', reason: 'value_mismatch', found: ['5 else.test'] })
  })
})

describe('the tracking CNAME', () => {
  const find = async (domain: DomainRow) => (await look({ ...domain, tracking_enabled: true })).records.tracking

  it('is valid as an alias of the expected host, which need not resolve', async () => {
    const domain = registered()
    zone.set(`link.${domain.name}`, { type: 'CNAME', domain: INSTALLATION.trackingHost })
    expect(await find(domain)).toMatchObject({ status: 'VALID', found: [] })
  })

  it('is invalid with the addresses of a proxy instead, and says so', async () => {
    const domain = registered()
    zone.set(`link.${domain.name}`, { type: 'A', address: '192.0.2.9' }, { type: 'AAAA', address: '2001:db8::9' })
    expect(await find(domain)).toMatchObject({
      status: 'INVALID',
      reason: 'value_mismatch',
      found: ['192.0.2.9', '2001:db8::9'],
      hint: expect.stringContaining('turn the proxy off'),
    })
  })

  it('is invalid through a further alias', async () => {
    const domain = registered()
    zone.set(`link.${domain.name}`, { type: 'CNAME', domain: 'hop.example' })
    zone.set('hop.example', { type: 'CNAME', domain: INSTALLATION.trackingHost })
    expect(await find(domain)).toMatchObject({ status: 'INVALID', found: ['hop.example'] })
  })

  it('is missing without any record', async () => {
    expect(await find(registered())).toMatchObject({ status: 'MISSING', found: [] })
  })
})

describe('the hints', () => {
  it('are kept without further questions where nothing has changed, and looked for again where something has', async () => {
    const domain = registered()
    zone.set(`mail.${domain.name}.${domain.name}`, MX)
    const first = (await look(domain)).records
    expect(first.return_mx?.hint).toContain('appends the domain')
    const before = { ...domain, records: first }
    zone.questions.length = 0
    const kept = (await look(before, true)).records
    expect(zone.questions).toHaveLength(5)
    expect(kept.return_mx?.hint).toBe(first.return_mx?.hint)
    zone.remove(`mail.${domain.name}.${domain.name}`)
    zone.set(`mail.${domain.name}`, { ...MX, exchange: 'else.test' })
    expect((await look(before, true)).records.return_mx?.hint).toContain('else.test')
    zone.remove(`mail.${domain.name}`)
    expect((await look(before)).records.return_mx?.hint).toBeUndefined()
  })

  it('come from what is published at other names', async () => {
    const domain = registered()
    const { name } = domain
    publishAll(domain)
    zone.remove(`svc1._domainkey.${name}`).remove(`_dmarc.${name}`)
    zone.set(`svc1.domainkey.${name}`, { type: 'TXT', data: `p=${KEY}` })
    zone.set(`_dmarc.${name}.${name}`, { type: 'TXT', data: 'v=DMARC1; p=none' })
    const { records } = await look(domain)
    expect(records.dkim?.hint).toContain(`is published at svc1.domainkey.${name}.`)
    expect(records.dmarc?.hint).toContain('Enter the name as _dmarc,')
  })

  it('name the alias in the place of a record, and the provider that receives mail', async () => {
    const domain = registered()
    const { name } = domain
    publishAll(domain)
    zone.set(name, { type: 'MX', exchange: 'aspmx.l.google.com', priority: 1 }, { ...MX, priority: 20 })
    zone.set(`_dmarc.${name}`, { type: 'CNAME', domain: 'policies.example' })
    const { records } = await look(domain)
    expect(records.apex_mx).toMatchObject({ reason: 'duplicate_records', found: ['1 aspmx.l.google.com'] })
    expect(records.apex_mx?.hint).toContain('Google Workspace')
    expect(records.dmarc?.hint).toContain('is an alias (CNAME) of policies.example')
  })

  it('cost no queries for records that are valid', async () => {
    const domain = registered()
    publishAll(domain)
    await look(domain)
    expect(zone.questions.filter(({ name }) => name.endsWith(`.${domain.name}.${domain.name}`))).toEqual([])
  })
})
