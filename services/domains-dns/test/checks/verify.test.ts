import { waitFor } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'
import { publish, recordsOf } from '../support/published.ts'

let fixture: Fixture
const { owner } = tenant()

beforeAll(async () => {
  fixture = await startFixture({ RETURN_PROBE: 'off' })
  fixture.zone.set('spf.restante.test', { type: 'TXT', data: 'v=spf1 ip4:192.0.2.25 -all' })
})
afterAll(() => fixture.stop())

async function register(body: Record<string, unknown> = {}) {
  const { domain } = await fixture.register(owner, body)
  return domain
}

const row = (name: string) => fixture.row(owner, name)
const verify = (name: string) => fixture.call('domains.verify', owner, { domain: name })

describe('domains.verify', () => {
  it('verifies a domain whose records are published, and answers after the check', async () => {
    const name = await register()
    await publish(fixture, await row(name))
    const { status, text } = await verify(name)
    expect({ status, text }).toEqual({ status: 204, text: '' })
    const { body } = await fixture.call('domains.get', owner, { domain: name })
    expect(body).toMatchObject({ status: 'VERIFIED' })
    expect(body).not.toHaveProperty('reason')
    expect(await row(name)).toMatchObject({ sending_ready: true })
  })

  it('shows what was found and the likely mistake', async () => {
    const name = await register()
    await publish(fixture, await row(name), 'return_mx')
    fixture.zone.set(`mail.${name}.${name}`, { type: 'MX', exchange: 'mx.restante.test', priority: 10 })
    expect((await verify(name)).status).toBe(204)
    const { body } = await fixture.call('domains.get', owner, { domain: name })
    expect(body).toMatchObject({ status: 'PENDING', reason: 'dns_records_missing' })
    expect(body['records']).toContainEqual(
      expect.objectContaining({
        name: `mail.${name}`,
        type: 'MX',
        status: 'MISSING',
        hint: `The record is published at mail.${name}.${name}: the DNS panel appends the domain itself. Enter the name as mail, or with a dot at its end.`,
      }),
    )
  })

  it('is 503 and leaves the state when DNS gives no answer', async () => {
    const name = await register()
    const records = await recordsOf(fixture, await row(name))
    await waitFor(async () => (await row(name)).checks > 0, { what: 'the first check' })
    const before = await row(name)
    for (const record of records) fixture.zone.fail(record.name)
    const { status, body } = await verify(name)
    expect({ status, name: body['name'] }).toMatchObject({ status: 503 })
    const after = await row(name)
    expect(after).toMatchObject({ status: before.status, records: before.records, checked_at: before.checked_at })
  })

  it('is 404 for an unknown domain', async () => {
    expect((await verify('unknown.example')).status).toBe(404)
  })
})
