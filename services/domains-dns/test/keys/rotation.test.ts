import { internalOperations } from '@restante/contracts/internal'
import { KeyRing } from '@restante/service/secrets'
import { queryRows, waitFor } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'

const PURPOSE = 'keys of domains'
const ring = (current: string, ...previous: string[]) => new KeyRing({ current, previous, purpose: PURPOSE })

describe('an encryption key that is replaced', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await withoutChecks(await startFixture({ ENCRYPTION_KEY: 'the first key of stored secrets' }))
  })
  afterAll(() => fixture.stop())

  it('opens what it has sealed until all is sealed with its successor, and can then be removed', async () => {
    const { owner } = tenant()
    const domains = [await fixture.register(owner), await fixture.register(owner)]
    await queryRows(fixture.db, 'update domains set sending_ready = true')
    const before = await Promise.all(domains.map(({ domain }) => keyOf(domain)))
    await fixture.restart({
      ENCRYPTION_KEY: 'the second key of stored secrets',
      PREVIOUS_ENCRYPTION_KEYS: 'the first key of stored secrets',
    })
    const current = ring('the second key of stored secrets').current
    await waitFor(
      async () => {
        const rows = await queryRows<{ sealed_with: string }>(fixture.db, 'select sealed_with from domain_keys')
        return rows.every(({ sealed_with }) => sealed_with === current)
      },
      { what: 'all keys to be sealed with the new key' },
    )
    await fixture.restart({ ENCRYPTION_KEY: 'the second key of stored secrets' })
    expect(await Promise.all(domains.map(({ domain }) => keyOf(domain)))).toEqual(before)

    async function keyOf(domain: string): Promise<string | undefined> {
      const { uid } = await fixture.row(owner, domain)
      const { body } = await fixture.internal('domains-dns.getSigningKey', 'mail-send', { domain_uid: uid })
      return internalOperations['domains-dns.getSigningKey'].response.parse(body).key?.private_key
    }
  })
})
