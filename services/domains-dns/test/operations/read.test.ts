import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { queryRows } from '@restante/testkit'
import { type Fixture, newName, startFixture, tenant } from '../support/fixture.ts'
import { withoutChecks } from '../support/without-checks.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await withoutChecks(await startFixture())
})
afterAll(() => fixture.stop())

const get = (caller: Caller, domain: string) => fixture.call('domains.get', caller, { domain })
const list = async (caller: Caller, query = '') => {
  const { body } = await fixture.call('domains.list', caller, { query })
  return { ...body, names: names(body['domains']) }
}

function names(domains: unknown): unknown[] {
  return Array.isArray(domains) ? domains.map(({ domain_id }) => domain_id) : []
}

describe('a domain', () => {
  it('is found by its name in any spelling, or by its client_id', async () => {
    const { owner } = tenant()
    const base = newName()
    const { domain, ...made } = await fixture.register(owner, { domain: `bücher.${base}`, client_id: 'Mine.1' })
    for (const id of [domain, `${domain}.`, domain.toUpperCase(), `Bücher.${base}`, 'Mine.1']) {
      const { status, body } = await get(owner, id)
      expect([status, body]).toEqual([200, { domain, ...made }])
    }
  })

  it('is found by its name before another one that has this name as client_id', async () => {
    const { owner } = tenant()
    const { domain } = await fixture.register(owner)
    await fixture.register(owner, { client_id: domain })
    expect((await get(owner, domain)).body['domain']).toBe(domain)
  })

  it.each(['unknown.example', 'mine.1', '%00', 'a b', '-', 'ü'.repeat(2_000)])('is 404 by %s', async (id) => {
    const { owner } = tenant()
    await fixture.register(owner, { client_id: 'Mine.1' })
    const { status, body } = await get(owner, id)
    expect([status, body['code']]).toEqual([404, 'not_found'])
  })

  it('is 404 for other organizations', async () => {
    const { domain } = await fixture.register(tenant().owner, { client_id: 'a' })
    const { owner } = tenant()
    expect((await get(owner, domain)).status).toBe(404)
    expect((await get(owner, 'a')).status).toBe(404)
  })
})

describe('the scope of a request', () => {
  it('decides which domains are listed and found', async () => {
    const { owner, inPod, pod } = tenant()
    const [one, other] = [randomUUID(), randomUUID()]
    const wide = (await fixture.register(owner)).domain
    const own = (await fixture.register(inPod(one))).domain
    const foreign = (await fixture.register(pod(other))).domain
    const visible: [Caller, string[]][] = [
      [owner, [foreign, own, wide]],
      [inPod(one), [own]],
      [inPod(other), [foreign]],
      [pod(one), [own, wide]],
      // The pod's own key on the path of its pod.
      [{ ...pod(one), pod_in_path: true }, [own]],
    ]
    for (const [caller, expected] of visible) {
      expect((await list(caller)).names).toEqual(expected)
      for (const domain of [wide, own, foreign]) {
        expect((await get(caller, domain)).status).toBe(expected.includes(domain) ? 200 : 404)
        const file = await fixture.call('domains.getZoneFile', caller, { domain })
        expect(file.status).toBe(expected.includes(domain) ? 200 : 404)
      }
    }
  })

  it.each(['domains.update', 'domains.delete'] as const)(
    'lets a pod read a domain of the whole organization, and is 403 forbidden for %s',
    async (operation) => {
      const { owner, pod, inPod } = tenant()
      const { domain } = await fixture.register(owner)
      const body = operation === 'domains.update' ? { feedback_enabled: false } : undefined
      const refused = await fixture.call(operation, pod(randomUUID()), { domain, body })
      expect([refused.status, refused.body['code']]).toEqual([403, 'forbidden'])
      expect((await fixture.call(operation, inPod(randomUUID()), { domain, body })).status).toBe(404)
      expect((await get(owner, domain)).body['feedback_enabled']).toBe(true)
    },
  )
})

describe('a list of domains', () => {
  it('has the members of a domain but its records', async () => {
    const { owner } = tenant()
    const { records: _, reason: __, ...made } = await fixture.register(owner, { client_id: 'x' })
    expect((await fixture.call('domains.list', owner)).body).toEqual({ count: 1, domains: [made] })
  })

  it('is paged by creation, newest first or oldest first, and by name where that is equal', async () => {
    const { owner, id } = tenant()
    const registered: string[] = []
    for (let index = 0; index < 7; index++) registered.push((await fixture.register(owner)).domain)
    const tied = registered.slice(2, 5).toSorted()
    await queryRows(fixture.db, 'update domains set created_at = now() where organization_id = $1', id)
    for (const [index, name] of registered.entries()) {
      const second = tied.includes(name) ? 2 : index
      await queryRows(
        fixture.db,
        "update domains set created_at = timestamptz '2026-01-01 00:00:00Z' + $2 * interval '1 second' where name = $1",
        name,
        second,
      )
    }
    const oldest = [...registered.slice(0, 2), ...tied, ...registered.slice(5)]
    for (const [ascending, expected] of [
      ['false', oldest.toReversed()],
      ['true', oldest],
    ] as const) {
      const pages: unknown[] = []
      for (let token = ''; ; ) {
        const page = await list(owner, `?limit=2&ascending=${ascending}${token}`)
        pages.push(page.names)
        if (!('next_page_token' in page)) break
        token = `&page_token=${String(page['next_page_token'])}`
      }
      expect(pages.map((page) => (Array.isArray(page) ? page.length : 0))).toEqual([2, 2, 2, 1])
      expect(pages.flat()).toEqual(expected)
    }
  })

  it('is 400 for a page token of another scope', async () => {
    const { owner, inPod } = tenant()
    await fixture.register(owner)
    await fixture.register(owner)
    const page = await list(owner, '?limit=1')
    const query = `?limit=1&page_token=${'next_page_token' in page ? String(page['next_page_token']) : ''}`
    const { status, body } = await fixture.call('domains.list', inPod(randomUUID()), { query })
    expect([status, body['errors']]).toMatchObject([400, [{ path: ['page_token'] }]])
  })
})
