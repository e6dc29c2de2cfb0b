import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture({ RETURN_HOST: 'bounces.restante.test' })
})
afterAll(() => fixture.stop())
afterEach(() => fixture.peers.reset())

const create = (caller: Parameters<Fixture['call']>[1], body: unknown) =>
  fixture.call('domains.create', caller, { body })

describe('a domain that is registered', () => {
  it('has the records that it needs, none of them found yet', async () => {
    const { owner } = tenant()
    const name = newName()
    const { status, body } = await create(owner, { domain: name })
    expect(status).toBe(200)
    expect(body).toMatchObject({ domain_id: name, domain: name, status: 'NOT_STARTED', reason: 'dns_records_missing' })
    expect(body).toMatchObject({ feedback_enabled: true, inbound_enabled: true, subdomains_enabled: false })
    expect(body).toMatchObject({ tracking_enabled: false })
    expect(body).not.toHaveProperty('pod_id')
    const key = String(await publicKey(name))
    expect(body['records']).toEqual([
      { type: 'MX', name, value: 'mx.restante.test', priority: 10, status: 'MISSING' },
      { type: 'MX', name: `mail.${name}`, value: 'bounces.restante.test', priority: 10, status: 'MISSING' },
      { type: 'TXT', name: `mail.${name}`, value: 'v=spf1 include:spf.restante.test -all', status: 'MISSING' },
      { type: 'TXT', name: `svc1._domainkey.${name}`, value: `v=DKIM1; k=rsa; p=${key}`, status: 'MISSING' },
      { type: 'TXT', name: `_dmarc.${name}`, value: `v=DMARC1; p=reject; rua=mailto:dmarc@${name}`, status: 'MISSING' },
    ])
  })
})

async function publicKey(name: string): Promise<unknown> {
  const [row] = await queryRows<{ public_key: string }>(
    fixture.db,
    'select public_key from domain_keys join domains on uid = domain_uid where name = $1',
    name,
  )
  return row?.public_key
}
void [randomUUID, topics, countRows, waitFor]
