import { randomUUID } from 'node:crypto'
import { type InternalOperationId, internalOperations } from '@restante/contracts/internal'
import { queryRows, waitFor } from '@restante/testkit'
import { type Fixture, startFixture, tenant } from '../support/fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await startFixture()
})
afterAll(() => fixture.stop())

const { 'domains-dns.listAll': LIST, 'domains-dns.showAll': SHOW } = internalOperations
const ask = async (operation: InternalOperationId, body: unknown) =>
  (await fixture.internal(operation, 'gateway', body)).body
const list = async (body: object) =>
  LIST.response.parse(await ask('domains-dns.listAll', { limit: 100, ...body })).domains
const show = async (body: object) => SHOW.response.parse(await ask('domains-dns.showAll', body)).domains

describe('the operator', () => {
  it('pages through the registrations of all organizations by name, those of one name by uid', async () => {
    const { domain } = await fixture.register(tenant().owner)
    await fixture.register(tenant().owner, { domain })
    await fixture.register(tenant().owner)
    const all = await list({})
    const paged: typeof all = []
    for (let after: object | undefined; ; ) {
      const page = await list({ limit: 1, ...(after && { after }) })
      const [last] = page
      if (!last) break
      paged.push(last)
      after = { domain: last.domain, domain_uid: last.domain_uid }
    }
    // Their states change meanwhile: the service checks them.
    const unchanging = ({ domain: name, domain_uid, organization_id, created_at }: (typeof all)[number]) => {
      return { name, domain_uid, organization_id, created_at }
    }
    expect(paged.map(unchanging)).toEqual(all.map(unchanging))
    expect(all.filter((one) => one.domain === domain)).toHaveLength(2)
  })

  it('lists those of one organization, of one status, or that are barred', async () => {
    const { owner, id } = tenant()
    const [one, other] = [await fixture.register(owner), await fixture.register(owner)]
    // The first check says what it has found, whatever was there before.
    await waitFor(async () => (await fixture.row(owner, one.domain)).checks > 0, { what: 'the first check' })
    await queryRows(fixture.db, "update domains set status = 'FAILED' where name = $1", one.domain)
    await queryRows(fixture.db, 'update domains set barred_at = now() where name = $1', other.domain)
    const names = async (filter: object) => (await list(filter)).map(({ domain }) => domain)
    expect(await names({ organization_id: id })).toEqual([one.domain, other.domain].toSorted())
    expect(await names({ organization_id: id, status: 'FAILED' })).toEqual([one.domain])
    expect(await names({ organization_id: id, barred: true })).toEqual([other.domain])
  })

  it('is shown every registration of a name, in any spelling, with records and the next check', async () => {
    const { owner, id } = tenant()
    const { domain, records } = await fixture.register(owner)
    await fixture.register(tenant().owner, { domain })
    expect(await show({ domain: `${domain.toUpperCase()}.` })).toHaveLength(2)
    const [shown, ...others] = await show({ domain, organization_id: id })
    expect(others).toEqual([])
    expect(shown?.records.map(({ name, value }) => [name, value])).toEqual(
      records.map(({ name, value }) => [name, value]),
    )
    expect(await show({ domain: 'unknown.example' })).toEqual([])
  })

  it('bars a registration from sending, once, and lifts the bar', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    const set = (barred: boolean, domain_uid = uid) =>
      ask('domains-dns.setBarred', { domain_uid, barred, operator: 'me' })
    expect(await set(true)).toEqual({ changed: true })
    expect(await set(true)).toEqual({ changed: false })
    expect((await fixture.row(owner, domain)).barred_at).not.toBeNull()
    expect(await set(false)).toEqual({ changed: true })
    expect((await fixture.row(owner, domain)).barred_at).toBeNull()
    expect(await set(true, randomUUID())).toEqual({})
  })

  it('lets a registration be checked again by lifting its bar, also when its automatic checks have ended', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    const set = (barred: boolean) => ask('domains-dns.setBarred', { domain_uid: uid, barred, operator: 'me' })
    await set(true)
    await queryRows(fixture.db, 'delete from timers where key = $1', uid)
    await set(false)
    expect((await show({ domain }))[0]?.next_check_at).toBeDefined()
  })

  it('queues a check of a registration that exists', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    const { uid } = await fixture.row(owner, domain)
    await queryRows(fixture.db, 'delete from timers where key = $1', uid)
    expect(await ask('domains-dns.checkNow', { domain_uid: uid, operator: 'me' })).toEqual({ queued: true })
    expect((await show({ domain }))[0]?.next_check_at).toBeDefined()
    expect(await ask('domains-dns.checkNow', { domain_uid: randomUUID(), operator: 'me' })).toEqual({ queued: false })
  })
})
