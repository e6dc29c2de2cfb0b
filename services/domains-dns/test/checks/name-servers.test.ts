import { describeAtFullLength, KnotServer, UnboundResolver } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'

let knot: KnotServer
let unbound: UnboundResolver
let fixture: Fixture
const { owner } = tenant()

const verify = async (name: string) => (await fixture.call('domains.verify', owner, { domain: name })).status
const zoneFileOf = async (name: string) => (await fixture.call('domains.getZoneFile', owner, { domain: name })).text
const statusOf = async (name: string) => (await fixture.row(owner, name)).status

describeAtFullLength({ programs: ['knotd', 'unbound'] }, 'a zone file that Knot serves and Unbound resolves', () => {
  beforeAll(async () => {
    knot = await new KnotServer().start('')
    unbound = await new UnboundResolver().start(knot)
    fixture = await startFixture({
      RETURN_PROBE: 'off',
      DNS_SERVERS: `${unbound.address},${knot.address}`,
      OUTBOUND_ADDRESSES: '192.0.2.25',
      MX_HOST: 'mx.installation.test',
      SPF_INCLUDE: 'spf.installation.test',
    })
  })
  afterAll(async () => {
    await fixture.stop()
    await Promise.all([unbound.stop(), knot.stop()])
  })

  const INSTALLATION = 'spf.installation.test. IN TXT "v=spf1 ip4:192.0.2.0/24 -all"'

  it('verifies the domain exactly as it is printed, long key and wildcard included', async () => {
    await fixture.register(owner, { domain: 'whole.test', subdomains_enabled: true })
    // Unbound now has the absence of every record in its cache; Knot has not.
    expect(await verify('whole.test')).toBe(204)
    expect(await statusOf('whole.test')).toBe('PENDING')
    await knot.publish(`${INSTALLATION}\n${await zoneFileOf('whole.test')}`)
    expect(await verify('whole.test')).toBe(204)
    expect(await statusOf('whole.test')).toBe('VERIFIED')
  })

  it('does not verify without one of its lines, and names the record', async () => {
    await fixture.register(owner, { domain: 'part.test' })
    const lines = (await zoneFileOf('part.test')).split('\n').filter((line) => !line.startsWith('_dmarc.'))
    await knot.publish(`${INSTALLATION}\n${lines.join('\n')}`)
    expect(await verify('part.test')).toBe(204)
    const { body } = await fixture.call('domains.get', owner, { domain: 'part.test' })
    expect(body).toMatchObject({ status: 'PENDING', reason: 'dns_records_missing' })
    expect(body['records']).toContainEqual(expect.objectContaining({ name: '_dmarc.part.test', status: 'MISSING' }))
  })

  it('shows a name that the panel has doubled', async () => {
    await fixture.register(owner, { domain: 'panel.test' })
    const doubled = (await zoneFileOf('panel.test')).replace(
      /^svc1\._domainkey\.panel\.test\./m,
      (name) => `${name}panel.test.`,
    )
    await knot.publish(`${INSTALLATION}\n${doubled}`)
    await verify('panel.test')
    const { records } = await fixture.row(owner, 'panel.test')
    expect(records.dkim).toMatchObject({
      status: 'MISSING',
      hint: expect.stringContaining('Enter the name as svc1._domainkey'),
    })
  })

  it('does not verify while SPF, evaluated as receivers do, refuses an address that mail leaves from', async () => {
    await fixture.register(owner, { domain: 'other.test' })
    const refusing = (await zoneFileOf('other.test')).replace('v=spf1 include', 'v=spf1 -ip4:192.0.2.25 include')
    await knot.publish(`${INSTALLATION}\n${refusing}`)
    await verify('other.test')
    expect(await fixture.row(owner, 'other.test')).toMatchObject({
      status: 'VERIFYING',
      reason: 'infra_mail_from_pending',
      sending_ready: false,
    })
  })
})
