import { sql } from '@restante/service/database'
import { DnsZone, waitFor } from '@restante/testkit'
import type { DomainRow } from '../../src/registrations/store.ts'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'
import { publish, recordsOf } from '../support/published.ts'

let fixture: Fixture
/** The second of two resolvers, which knows what a test tells it. */
let second: DnsZone
const { owner } = tenant()

beforeAll(async () => {
  second = await new DnsZone().start()
  fixture = await startFixture({ RETURN_PROBE: 'off' })
  await fixture.restart({ DNS_SERVERS: `${fixture.zone.address},${second.address}` })
})
afterAll(async () => {
  await fixture.stop()
  await second.stop()
})

const row = (name: string) => fixture.row(owner, name)
const verify = async (name: string) => (await fixture.call('domains.verify', owner, { domain: name })).status

const DUE = sql<{ kind: string; due_at: Date }, [uid: string]>(
  'select kind, due_at from timers where key = $1 order by kind',
)
/** When the next check is made, in seconds after a time. */
async function dueAfter(from: Date, { uid }: DomainRow): Promise<number> {
  const [next, ...others] = await fixture.db.query(DUE, uid)
  expect([next?.kind, others]).toEqual(['domain-check', []])
  return ((next?.due_at.getTime() ?? 0) - from.getTime()) / 1_000
}

async function registerVerified(): Promise<string> {
  const { domain: name } = await fixture.register(owner)
  await publish(fixture, await row(name))
  expect(await verify(name)).toBe(204)
  await waitFor(async () => (await row(name)).status === 'VERIFIED', { what: `${name} to be verified` })
  return name
}

async function failEverywhere(name: string, ...kinds: string[]): Promise<void> {
  for (const record of await recordsOf(fixture, await row(name))) {
    if (kinds.length > 0 && !kinds.includes(record.kind)) continue
    fixture.zone.fail(record.name)
    second.fail(record.name)
  }
}

describe('a check of a domain', () => {
  it('is made at once after creation, and again after 30 s', async () => {
    const { domain: name } = await fixture.register(owner)
    await waitFor(async () => (await row(name)).status === 'PENDING', { what: 'the first check' })
    const checked = await row(name)
    expect(await dueAfter(checked.scheduled_from, checked)).toBeCloseTo(30, 1)
  })

  it('is made every 6 hours once the domain is verified', async () => {
    const name = await registerVerified()
    const due = await dueAfter(new Date(), await row(name))
    expect(due).toBeGreaterThan(5.3 * 3_600)
    expect(due).toBeLessThan(6.7 * 3_600)
  })

  it('changes nothing of a verified domain when every resolver fails, and is repeated soon', async () => {
    const name = await registerVerified()
    const before = await row(name)
    await failEverywhere(name)
    expect(await verify(name)).toBe(503)
    const after = await row(name)
    expect({ ...after, checks: 0, scheduled_from: 0, converging_since: 0 }).toEqual({
      ...before,
      checks: 0,
      scheduled_from: 0,
      converging_since: 0,
    })
    const due = await dueAfter(new Date(), after)
    expect(due).toBeGreaterThan(0)
    expect(due).toBeLessThanOrEqual(60)
  })

  it('keeps the status of a record whose name server fails or is silent, while others change', async () => {
    const name = await registerVerified()
    const records = await recordsOf(fixture, await row(name))
    await failEverywhere(name, 'dkim')
    const dmarc = records.find(({ kind }) => kind === 'dmarc')?.name ?? ''
    fixture.zone.silence(dmarc)
    second.silence(dmarc)
    fixture.zone.remove(name)
    await verify(name)
    const after = await waitFor(
      async () => {
        const found = await row(name)
        return found.records.apex_mx?.status === 'MISSING' ? found : undefined
      },
      { what: 'the missing MX record to be seen' },
    )
    expect(after).toMatchObject({ status: 'VERIFIED', failing_checks: 1, sending_ready: true })
    expect([after.records.dkim?.status, after.records.dmarc?.status]).toEqual(['VALID', 'VALID'])
  })

  it('does not believe one resolver that a good record is gone while the other one fails', async () => {
    const name = await registerVerified()
    for (const record of await recordsOf(fixture, await row(name))) {
      fixture.zone.remove(record.name)
      second.fail(record.name)
    }
    expect(await verify(name)).toBe(503)
    expect((await row(name)).records.dkim?.status).toBe('VALID')
  })

  it('verifies a domain whose records only one resolver knows yet', async () => {
    const name = await registerVerified()
    expect(second.questions).toContainEqual({ name: `_dmarc.${name}`, type: 'TXT' })
  })

  it('is repeated when the domain is changed while it runs, and the request for it is 409', async () => {
    const { domain: name } = await fixture.register(owner)
    await waitFor(async () => (await row(name)).checks === 1, { what: 'the first check' })
    await publish(fixture, await row(name))
    // Both resolvers stay silent for one record, so that the check takes 2 s.
    fixture.zone.silence(`_dmarc.${name}`)
    second.silence(`_dmarc.${name}`)
    const asked = () => fixture.zone.questions.filter((question) => question.name === `_dmarc.${name}`).length
    const before = asked()
    const verifying = verify(name)
    await waitFor(() => asked() > before, { what: 'the check to run' })
    const { status } = await fixture.call('domains.update', owner, { domain: name, body: { subdomains_enabled: true } })
    expect(status).toBe(200)
    fixture.zone.set(`_dmarc.${name}`, { type: 'TXT', data: 'v=DMARC1; p=none' })
    fixture.zone.set(`*.${name}`, { type: 'MX', exchange: 'mx.restante.test', priority: 10 })
    expect([204, 409]).toContain(await verifying)
    const after = await waitFor(
      async () => {
        const found = await row(name)
        return found.status === 'VERIFIED' ? found : undefined
      },
      { what: 'the repeated check' },
    )
    expect(after.records.wildcard_mx?.status).toBe('VALID')
  })

  it('is shared by requests that come while it runs, and made again for one that comes later', async () => {
    const { domain: name } = await fixture.register(owner)
    await waitFor(async () => (await row(name)).checks === 1, { what: 'the first check' })
    // Both resolvers stay silent for one record, so that the check takes long enough for all of them to come.
    fixture.zone.silence(`_dmarc.${name}`)
    second.silence(`_dmarc.${name}`)
    const statuses = await Promise.all(Array.from({ length: 6 }, () => verify(name)))
    expect(statuses).toEqual([204, 204, 204, 204, 204, 204])
    const checks = async () => (await row(name)).checks
    await waitFor(async () => (await checks()) > 1, { what: 'the check to end' })
    expect(await checks()).toBe(2)
    for (const zone of [fixture.zone, second]) zone.set(`_dmarc.${name}`)
    await verify(name)
    await waitFor(async () => (await checks()) > 2, { what: 'another check' })
    expect(await checks()).toBe(3)
  })

  it('has no effect on a domain that is deleted while it runs, and leaves no timer', async () => {
    const { domain: name } = await fixture.register(owner)
    const { uid } = await row(name)
    fixture.zone.silence(`_dmarc.${name}`)
    second.silence(`_dmarc.${name}`)
    const verifying = verify(name)
    await waitFor(() => fixture.zone.questions.some((question) => question.name === `_dmarc.${name}`), {
      what: 'it to run',
    })
    expect((await fixture.call('domains.delete', owner, { domain: name })).status).toBe(204)
    expect(await verifying).toBe(404)
    await waitFor(async () => (await fixture.db.query(DUE, uid)).length === 0, { what: 'no timer to remain' })
  })
})
