import { internalOperations } from '@restante/contracts/internal'
import { queryRows } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await withoutChecks(await startFixture())
})
afterAll(() => fixture.stop())

describe('another selector of the installation', () => {
  it('is that of new domains; those that are registered keep theirs in their records and signatures', async () => {
    const { owner } = tenant()
    const earlier = await fixture.register(owner)
    await fixture.restart({ CUSTOM_DKIM_SELECTOR: 'svc2' })
    const { domain: later, records } = await fixture.register(owner)
    expect(records.map(({ name }) => name)).toContain(`svc2._domainkey.${later}`)
    const { body } = await fixture.call('domains.get', owner, { domain: earlier.domain })
    expect(body['records']).toEqual(earlier.records)
    const { text: zone } = await fixture.call('domains.getZoneFile', owner, { domain: earlier.domain })
    expect(zone).toContain(`svc1._domainkey.${earlier.domain}.`)
    await queryRows(fixture.db, 'update domains set sending_ready = true where name = $1', earlier.domain)
    const { uid: domain_uid } = await fixture.row(owner, earlier.domain)
    const answer = await fixture.internal('domains-dns.getSigningKey', 'mail-send', { domain_uid })
    const { key } = internalOperations['domains-dns.getSigningKey'].response.parse(answer.body)
    expect(key?.selector).toBe('svc1')
  })
})
