import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { deliverOnce } from '@restante/messaging/testing'
import { createLogger } from '@restante/service/telemetry'
import { countRows, DnsZone, organizationDeletedEvent, queryRows, sendMail, waitFor } from '@restante/testkit'
import { RetentionSweeper } from '../../src/retention/sweeper.ts'
import { DomainOwner, type Identity, newRegistration } from '../domains/registrations.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { purgeScope, tenancyOf } from '../mailbox-fixture.ts'

const DAY_MS = 86_400_000
const RECEIVER = 'receiver.test'

let fixture: Fixture
let owner: DomainOwner
let zone: DnsZone

beforeAll(async () => {
  zone = await new DnsZone().start()
  zone.set(RECEIVER, { type: 'TXT', data: 'v=spf1 ip4:127.0.0.1 -all' })
  zone.set('forger.test', { type: 'TXT', data: 'v=spf1 -all' })
  fixture = await openFixture({ SENDER_AUTH: 'dns', DNS_SERVERS: zone.address })
  owner = new DomainOwner(fixture)
})
afterAll(async () => {
  await owner.stop()
  await Promise.all([fixture.stop(), zone.stop()])
})

async function registered(switches = {}): Promise<Identity> {
  const of = newRegistration(`d${randomUUID().slice(0, 8)}.test`)
  await owner.set(of, switches)
  return of
}

interface Row {
  readonly ip: string
  readonly count: number
  readonly disposition?: string
  readonly dkim?: string
}

interface Report {
  readonly domain: string
  readonly id?: string
  readonly begin?: number
  readonly rows?: readonly Row[]
}

const xmlOf = ({
  domain,
  id = randomUUID(),
  begin = Date.now() - DAY_MS,
  rows = [{ ip: '192.0.2.1', count: 2 }],
}: Report) => {
  const seconds = Math.floor(begin / 1_000)
  const records = rows.map(
    ({ ip, count, disposition = 'none', dkim = 'pass' }) =>
      `<record><row><source_ip>${ip}</source_ip><count>${count}</count><policy_evaluated><disposition>${disposition}` +
      `</disposition><dkim>${dkim}</dkim><spf>fail</spf></policy_evaluated></row><identifiers><header_from>${domain}` +
      '</header_from></identifiers><auth_results/></record>',
  )
  return (
    `<?xml version="1.0"?><feedback><report_metadata><org_name>Receiver</org_name><email>r@${RECEIVER}</email>` +
    `<report_id>${id}</report_id><date_range><begin>${seconds}</begin><end>${seconds + 86_399}</end></date_range>` +
    `</report_metadata><policy_published><domain>${domain}</domain><p>reject</p></policy_published>${records.join('')}` +
    '</feedback>'
  )
}

/** Mails a report, and waits until it is processed. @returns how the pipeline has ended. */
async function mail(to: string, content: Buffer | string, { from = RECEIVER, filename = 'report.xml.gz' } = {}) {
  const address = `reports@${from}`
  const attachments = [{ filename, content }]
  await sendMail({
    port: fixture.smtpPort,
    from: address,
    to: `dmarc@${to}`,
    subject: 'Report',
    text: 'x',
    attachments,
  })
  const waiting = () => countRows(fixture.db, "inbound where kind = 'dmarc'")
  await waitFor(async () => (await waiting()) === 0, { what: 'the end of the report' })
}

const countsOf = ({ domain_uid }: Identity) =>
  fixture.gatewayPeer('mail-ingest.listDmarcCounts', { domain_uid, since: '2020-01-01', limit: 10 })
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

describe('a DMARC report about a custom domain', () => {
  it('is counted by day, sender and source, and is stored nowhere else', async () => {
    const domain = await registered()
    const begin = Date.now() - 2 * DAY_MS
    const rows = [
      { ip: '192.0.2.1', count: 2 },
      { ip: '192.0.2.1', count: 5 },
      { ip: '2001:db8::1', count: 20, disposition: 'reject', dkim: 'fail' },
    ]
    await mail(domain.domain, gzipSync(xmlOf({ domain: domain.domain, begin, rows })))
    const common = { day: dayOf(begin), reporter: RECEIVER, authenticated: true, spf: 'fail' }
    expect(await countsOf(domain)).toEqual({
      more: false,
      counts: [
        { ...common, source_ip: '2001:db8::1', disposition: 'reject', dkim: 'fail', messages: 20 },
        { ...common, source_ip: '192.0.2.1', disposition: 'none', dkim: 'pass', messages: 7 },
      ],
    })
    expect(await countRows(fixture.db, 'messages')).toBe(0)
  })

  it('counts once, however often it arrives; another one of the day is added', async () => {
    const domain = await registered()
    const begin = Date.now() - DAY_MS
    const again = xmlOf({ domain: domain.domain, id: 'same', begin })
    for (let times = 0; times < 3; times++) await mail(domain.domain, again, { filename: 'report.xml' })
    expect((await countsOf(domain)).counts).toMatchObject([{ messages: 2 }])
    await mail(domain.domain, xmlOf({ domain: domain.domain, id: 'other', begin }), { filename: 'report.xml' })
    expect((await countsOf(domain)).counts).toMatchObject([{ messages: 4 }])
  })

  it('of a sender that is not authenticated is counted apart, and does not stand in for the real one', async () => {
    const domain = await registered()
    const xml = xmlOf({ domain: domain.domain, id: 'same' })
    await mail(domain.domain, gzipSync(xml), { from: 'forger.test' })
    expect((await countsOf(domain)).counts).toMatchObject([{ reporter: 'forger.test', authenticated: false }])
    await mail(domain.domain, gzipSync(xml))
    expect((await countsOf(domain)).counts).toHaveLength(2)
  })

  it('about a name below the domain counts', async () => {
    const domain = await registered()
    await mail(domain.domain, gzipSync(xmlOf({ domain: `x.${domain.domain}` })))
    expect((await countsOf(domain)).counts).toHaveLength(1)
  })

  it.each<[string, (domain: string) => Buffer | string]>([
    ['about another domain', () => gzipSync(xmlOf({ domain: 'other.test' }))],
    ['about a domain with this one at its end', (domain) => gzipSync(xmlOf({ domain: `x${domain}` }))],
    ['of a time more than 90 days ago', (domain) => gzipSync(xmlOf({ domain, begin: Date.now() - 91 * DAY_MS }))],
    ['of the future', (domain) => gzipSync(xmlOf({ domain, begin: Date.now() + 3 * DAY_MS }))],
    ['that is no XML', () => gzipSync('hello')],
    ['that ends early', (domain) => gzipSync(xmlOf({ domain }).slice(0, -20))],
    ['that inflates to more than 10 MB', (domain) => gzipSync(xmlOf({ domain }).replace('Receiver', 'x'.repeat(11e6)))],
  ])('%s is dropped, and nothing of it is stored', async (_what, content) => {
    const domain = await registered()
    await mail(domain.domain, content(domain.domain))
    expect(await countsOf(domain)).toEqual({ counts: [], more: false })
    expect(await countRows(fixture.db, 'dmarc_reports where domain_uid = $1', domain.domain_uid)).toBe(0)
  })

  it('counts for the organization that has proven the domain, and for none while no one has', async () => {
    const holder = await registered()
    const other = newRegistration(holder.domain)
    await owner.set(other, { proven: false, status: 'PENDING' })
    await mail(holder.domain, gzipSync(xmlOf({ domain: holder.domain })))
    expect([(await countsOf(holder)).counts.length, (await countsOf(other)).counts.length]).toEqual([1, 0])
    const unproven = await registered({ proven: false })
    await mail(unproven.domain, gzipSync(xmlOf({ domain: unproven.domain })))
    expect((await countsOf(unproven)).counts).toEqual([])
  })

  it('does not count beyond the rows that a day of a domain may have', async () => {
    const domain = await registered()
    const begin = Date.now() - DAY_MS
    const many = (from: number) =>
      Array.from({ length: 900 }, (_, index) => ({ ip: `10.${from}.${index >> 8}.${index & 255}`, count: 1 }))
    for (let from = 0; from < 6; from++)
      await mail(domain.domain, gzipSync(xmlOf({ domain: domain.domain, begin, rows: many(from) })))
    expect(await countRows(fixture.db, 'dmarc_counts where domain_uid = $1', domain.domain_uid)).toBe(4_500)
  })
})

describe('DMARC reports of a day of a domain', () => {
  it('are no more from strangers than a limit, though their rows be the same, and those of others still count', async () => {
    const domain = await registered()
    const begin = Date.now() - DAY_MS
    const store = `insert into dmarc_reports (domain_uid, reporter, authenticated, report_id, organization_id, day)
      select $1::uuid, 'forger.test', false, number::text, $2::uuid, $3::date from generate_series(1, 1000) as number`
    await queryRows(fixture.db, store, domain.domain_uid, domain.organization_id, dayOf(begin))
    const report = () => gzipSync(xmlOf({ domain: domain.domain, begin }))
    await mail(domain.domain, report(), { from: 'forger.test' })
    expect((await countsOf(domain)).counts).toEqual([])
    await mail(domain.domain, report())
    expect((await countsOf(domain)).counts).toMatchObject([{ reporter: RECEIVER, messages: 2 }])
  })
})

describe('what DMARC reports said', () => {
  it('is deleted with the organization', async () => {
    const domain = await registered()
    await mail(domain.domain, gzipSync(xmlOf({ domain: domain.domain })))
    const tenancy = await tenancyOf(fixture)
    await deliverOnce(tenancy.consumer, organizationDeletedEvent(domain.organization_id))
    await purgeScope(fixture, tenancy, domain.organization_id)
    for (const table of ['dmarc_reports', 'dmarc_counts'])
      expect(await countRows(fixture.db, `${table} where domain_uid = $1`, domain.domain_uid)).toBe(0)
  })

  it('is deleted after 90 days, and with its domain', async () => {
    const [kept, old, gone] = [await registered(), await registered(), await registered()]
    for (const { domain } of [kept, old, gone]) await mail(domain, gzipSync(xmlOf({ domain })))
    for (const table of ['dmarc_reports', 'dmarc_counts'])
      await queryRows(fixture.db, `update ${table} set day = current_date - 91 where domain_uid = $1`, old.domain_uid)
    await owner.delete(gone)
    await new RetentionSweeper({ db: fixture.db, log: createLogger({ service: 'test', level: 'silent' }) }).forget()
    const left = (of: Identity) => countRows(fixture.db, 'dmarc_counts where domain_uid = $1', of.domain_uid)
    expect([await left(kept), await left(old), await left(gone)]).toEqual([1, 0, 0])
    expect(await countRows(fixture.db, 'dmarc_reports where domain_uid = $1', old.domain_uid)).toBe(0)
  })
})
