import { randomUUID } from 'node:crypto'
import { DomainLookup, registrations } from '@restante/domains'
import { ServiceClient } from '@restante/service/http'
import { type Fixture, openFixture } from '../fixture.ts'

let fixture: Fixture
let owner: ServiceClient

beforeAll(async () => {
  fixture = await openFixture()
  const { url, key } = fixture.config.peers.of('domains-dns')
  owner = new ServiceClient({ from: 'mail-ingest', to: 'domains-dns', url, key })
})
afterAll(async () => {
  await owner.stop()
  await fixture.stop()
})

/** A look-up whose queries are counted. */
function counted() {
  let queries = 0
  const db: Pick<typeof fixture.db, 'query'> = {
    query(statement, ...values) {
      queries++
      return fixture.db.query(statement, ...values)
    },
  }
  return {
    lookup: new DomainLookup({ db, ownDomains: new Set(['restante.test', 'second.test']), owner }),
    queries: () => queries,
  }
}

describe('the look-up of domains', () => {
  it('costs no query for addresses of the installation itself', async () => {
    const { lookup, queries } = counted()
    for (const domain of ['restante.test', 'bounces.restante.test', 'second.test'])
      expect(await lookup.of(domain)).toEqual([])
    expect(queries()).toBe(0)
  })

  it('answers many at once with a few queries, each with its own name and those above it', async () => {
    const { lookup, queries } = counted()
    const name = `d${randomUUID().slice(0, 8)}.test`
    const switches = {
      proven: true,
      inbound_enabled: true,
      subdomains_enabled: true,
      feedback_enabled: true,
      sending_ready: true,
    }
    const hosts = { return_path: null, tracking_host: null }
    const state = { organization_id: randomUUID(), version: 1, deleted_at: null, ...switches, ...hosts }
    for (const domain of [name, `x.${name}`])
      await registrations.apply(fixture.db, { ...state, id: randomUUID(), domain })
    const asked = [name, `x.${name}`, `y.x.${name}`, `z.${name}`, 'other.test', 'test', '']
    const found = await Promise.all(asked.map((domain) => lookup.of(domain)))
    expect(found.map((of) => of.map(({ domain }) => domain))).toEqual([
      [name],
      [`x.${name}`, name],
      [`x.${name}`, name],
      [name],
      ...[[], [], []],
    ])
    expect(queries()).toBe(1)
  })
})
