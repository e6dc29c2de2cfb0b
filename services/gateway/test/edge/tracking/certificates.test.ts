import { UpstreamError } from '@restante/service/errors'
import { ServiceClient } from '@restante/service/http'
import { selfSigned } from '@restante/testkit'
import { TrackingHosts } from '../../../src/edge/tracking/hosts.ts'
import { FakeUpstreams } from '../../fake-upstreams.ts'

const HOST = 'link.example.com'

describe('the certificates of tracking hosts at the gateway', () => {
  let owner: FakeUpstreams
  let client: ServiceClient<'gateway'>
  let hosts: TrackingHosts

  beforeEach(async () => {
    owner = new FakeUpstreams()
    const url = await owner.start()
    client = new ServiceClient({ from: 'gateway', to: 'domains-dns', url, key: 'key of the pair in this test' })
    // Each question finds what is known too old.
    hosts = new TrackingHosts(client, 0)
    await install(60_000)
  })
  afterEach(async () => {
    await client.stop()
    await owner.stop()
  })

  async function install(validMs: number): Promise<void> {
    const { certificate: chain, privateKey: private_key } = await selfSigned(HOST)
    owner.certificates.set(HOST, { chain, private_key, not_after: new Date(Date.now() + validMs).toISOString() })
  }

  it('are replaced by renewed ones without a restart', async () => {
    const first = await hosts.contextOf(HOST)
    await install(60_000)
    const second = await hosts.contextOf(HOST)
    expect(first).toBeDefined()
    expect(second).toBeDefined()
    expect(second).not.toBe(first)
  })

  it('stay in use while their owner does not answer', async () => {
    const known = await hosts.contextOf(HOST)
    owner.down = true
    expect(await hosts.contextOf(HOST)).toBe(known)
    await expect(hosts.contextOf('link.other.example')).rejects.toThrow(UpstreamError)
  })

  it('are used without waiting for an owner who has just not answered', async () => {
    const known = await hosts.contextOf(HOST)
    owner.down = true
    await hosts.contextOf(HOST)
    owner.down = false
    owner.askedHosts.length = 0
    expect(await hosts.contextOf(HOST)).toBe(known)
    expect(owner.askedHosts).toEqual([])
  })

  it('are not used after they have expired, even while their owner does not answer', async () => {
    await install(-1)
    await hosts.contextOf(HOST)
    owner.down = true
    await expect(hosts.contextOf(HOST)).rejects.toThrow(UpstreamError)
  })

  it('end when their owner has removed them', async () => {
    expect(await hosts.contextOf(HOST)).toBeDefined()
    owner.certificates.clear()
    expect(await hosts.contextOf(HOST)).toBeUndefined()
    owner.down = true
    expect(await hosts.contextOf(HOST)).toBeUndefined()
  })

  it('are found whatever the case of the name, and names that are none are not asked about', async () => {
    expect(await hosts.contextOf('LINK.Example.COM')).toBeDefined()
    owner.askedHosts.length = 0
    for (const name of [
      '',
      'localhost',
      'link.example.com/..',
      'link..example',
      'a'.repeat(300),
      `${'a.'.repeat(127)}aa`,
    ])
      expect(await hosts.contextOf(name)).toBeUndefined()
    expect(owner.askedHosts).toEqual([])
  })

  it('are asked for at 64 unknown hosts at a time at most', async () => {
    const asked = Array.from({ length: 80 }, (_, index) => hosts.contextOf(`link.host-${index}.example`))
    const outcomes = await Promise.allSettled(asked)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(16)
    expect(owner.askedHosts).toHaveLength(64)
  })
})
