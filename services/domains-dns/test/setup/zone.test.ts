import { DnsZone } from '@restante/testkit'
import { Resolvers } from '../../src/dns/resolvers.ts'
import { findZoneApex } from '../../src/setup/discovery/zone.ts'
import { newName } from '../support/fixture.ts'

/** A search that asked about each of the sixty labels, and got no answers, would take longer. */
const LONGEST_MS = 60_000

describe('the search for the zone of a name', () => {
  let zone: DnsZone
  let dns: Resolvers
  beforeAll(async () => {
    zone = await new DnsZone().start()
    dns = new Resolvers({ servers: [zone.address] })
  })
  afterAll(() => zone.stop())

  it('ends where a name has many labels and its name servers are silent', async () => {
    const name = `${'a.'.repeat(60)}${newName()}`
    for (let rest = name; rest.includes('.'); rest = rest.slice(rest.indexOf('.') + 1)) zone.silence(rest)
    const since = performance.now()
    expect(await findZoneApex(dns, name)).toBeUndefined()
    expect(performance.now() - since).toBeLessThan(LONGEST_MS)
  })

  it('finds the nearest zone above a name, and none above the registrable one', async () => {
    const registered = newName()
    const soa = { type: 'SOA' as const, primary: 'ns.test', admin: 'admin.test' }
    zone.set(`b.${registered}`, soa).fail(`a.b.${registered}`)
    expect(await findZoneApex(dns, `x.a.b.${registered}`)).toBe(`b.${registered}`)
    zone.set('example', soa)
    expect(await findZoneApex(dns, registered)).toBeUndefined()
  })
})
