import { Outbox } from '@restante/messaging'
import { sql } from '@restante/service/database'
import { byLength, waitFor } from '@restante/testkit'
import { applyChanges } from '../../src/status/apply-changes.ts'
import { lockForChange } from '../../src/status/store.ts'
import { found, PASSED } from '../status/rows.ts'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'
import { INSTALLATION, publish } from '../support/published.ts'

/** How often organizations race for a name. */
const ROUNDS = byLength({ short: 6, long: 20 })

let fixture: Fixture

beforeAll(async () => {
  fixture = await startFixture({ RETURN_PROBE: 'off' })
})
afterAll(() => fixture.stop())

const verify = (owner: ReturnType<typeof tenant>['owner'], name: string) =>
  fixture.call('domains.verify', owner, { domain: name })
const eventsOf = (name: string) =>
  fixture.publics.records.filter(({ value }) => value.includes(`"domain_id":"${name}"`))
const documentOf = ({ value }: { value: string }): unknown => JSON.parse(value)

const PASS_TIME = sql<never, [uid: string]>(
  "update domains set last_verified_at = now() - interval '31 days', status = 'PENDING' where uid = $1",
)

describe('a name that two organizations have registered', () => {
  it('is verified only by the one whose key is published; the other one fails and is refused', async () => {
    const [one, two] = [tenant(), tenant()]
    const name = newName()
    await fixture.register(one.owner, { domain: name })
    await fixture.register(two.owner, { domain: name })
    await publish(fixture, await fixture.row(two.owner, name))
    const [first] = await Promise.all([verify(one.owner, name), verify(two.owner, name)])
    expect([204, 422]).toContain(first.status)
    expect(await fixture.row(two.owner, name)).toMatchObject({ status: 'VERIFIED', lost_at: null })
    expect(await fixture.row(one.owner, name)).toMatchObject({ status: 'FAILED', reason: 'dns_records_invalid' })
    const refused = await verify(one.owner, name)
    expect(refused.status).toBe(422)
    expect(refused.body).toMatchObject({ message: expect.stringContaining('Another organization has proven') })
    await waitFor(() => eventsOf(name).length > 0, { what: 'the event' })
    expect(eventsOf(name).map(({ headers }) => headers['ce_organizationid'])).toEqual([two.id])
  })

  it('is verified by one even when both become valid in the same moment, many times', async () => {
    const outbox = new Outbox({ db: fixture.db, service: 'domains-dns' })
    const options = { outbox, installation: INSTALLATION }
    for (let round = 0; round < ROUNDS; round++) {
      const tenants = [tenant(), tenant(), tenant()]
      const name = newName()
      for (const { owner } of tenants) await fixture.register(owner, { domain: name })
      const rows = await Promise.all(tenants.map(({ owner }) => fixture.row(owner, name)))
      const now = new Date()
      const changes = { records: found(), sending_checks: PASSED, checked_at: now }
      await Promise.all(
        rows.map(({ uid }) =>
          fixture.db.transaction(async (tx) => {
            const locked = await lockForChange(tx, uid)
            if (locked) await applyChanges(tx, options, locked, changes, now)
          }),
        ),
      )
      const after = await Promise.all(tenants.map(({ owner }) => fixture.row(owner, name)))
      expect(after.map(({ status }) => status).sort()).toEqual(['FAILED', 'FAILED', 'VERIFIED'])
      expect(after.filter(({ lost_at }) => lost_at !== null)).toHaveLength(2)
    }
  })

  it('can be proven by another organization 30 days after the first one has lost its records', async () => {
    const [one, two] = [tenant(), tenant()]
    const name = newName()
    await fixture.register(one.owner, { domain: name })
    await fixture.register(two.owner, { domain: name })
    await publish(fixture, await fixture.row(one.owner, name))
    await verify(one.owner, name)
    await publish(fixture, await fixture.row(two.owner, name))
    expect((await verify(two.owner, name)).status).toBe(422)
    await fixture.db.query(PASS_TIME, (await fixture.row(one.owner, name)).uid)
    expect((await verify(two.owner, name)).status).toBe(204)
    expect(await fixture.row(two.owner, name)).toMatchObject({ status: 'VERIFIED', lost_at: null })
    expect(await fixture.row(one.owner, name)).toMatchObject({ status: 'FAILED', sending_ready: false })
  })
})

describe('domain.verified', () => {
  it('is published once for each move into VERIFIED, with the full domain', async () => {
    const { owner, id } = tenant()
    const { domain: name } = await fixture.register(owner)
    await publish(fixture, await fixture.row(owner, name))
    for (let times = 0; times < 3; times++) await verify(owner, name)
    await waitFor(() => eventsOf(name).length === 1, { what: 'the event' })
    await fixture.call('domains.update', owner, { domain: name, body: { subdomains_enabled: true } })
    expect((await fixture.row(owner, name)).status).toBe('PENDING')
    fixture.zone.set(`*.${name}`, { type: 'MX', exchange: 'mx.restante.test', priority: 1 })
    await verify(owner, name)
    const events = await waitFor(() => (eventsOf(name).length === 2 ? eventsOf(name) : undefined), {
      what: 'the second event',
    })
    const { body } = await fixture.call('domains.get', owner, { domain: name })
    const [, last] = events
    expect(last?.headers['ce_organizationid']).toBe(id)
    expect(last && documentOf(last)).toEqual({
      type: 'event',
      event_type: 'domain.verified',
      event_id: last?.id,
      domain: { ...body, records: expect.any(Array) },
    })
    expect(body).not.toHaveProperty('reason')
  })

  it('goes with the state of the domain, whose version grows', async () => {
    const { owner } = tenant()
    const { domain: name } = await fixture.register(owner)
    await publish(fixture, await fixture.row(owner, name))
    await verify(owner, name)
    const { uid, version } = await fixture.row(owner, name)
    const states = () => fixture.states.records.filter(({ key }) => key === uid).map(documentOf)
    await waitFor(() => states().some((state) => Reflect.get(Object(state), 'status') === 'VERIFIED'), {
      what: 'the state',
    })
    expect(states().at(-1)).toMatchObject({ version, status: 'VERIFIED', sending_ready: true })
    await verify(owner, name)
    expect((await fixture.row(owner, name)).version).toBe(version)
  })
})
