import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:https'
import { connect } from 'node:tls'
import { topics } from '@restante/contracts/events'
import {
  createTopics,
  DnsZone,
  describeWith,
  freePort,
  GatewayProcess,
  openRedis,
  Pebble,
  startService,
  waitFor,
} from '@restante/testkit'
import { service as domainsDns } from '../../src/main.ts'
import { newName, tenant } from '../support/fixture.ts'
import { type Stage, startStage } from './stage.ts'

const TOKEN = 'a'.repeat(43)

describeWith({ programs: ['pebble'] }, 'tracking hosts certified by a real ACME authority', () => {
  let zone: DnsZone
  let pebble: Pebble
  let stage: Stage
  let gateway: GatewayProcess
  let httpsPort: number
  const ends: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    const [httpPort, secure, kafka] = [await freePort(), await freePort(), await createTopics([topics.tenancy])]
    httpsPort = secure
    const redis = openRedis()
    zone = await new DnsZone().start()
    pebble = await Pebble.start({ dns: zone.address, httpPort })
    stage = await startStage({ ACME_DIRECTORY: pebble.directory, ACME_CA_FILE: pebble.caFile })
    gateway = await GatewayProcess.start({
      topics: kafka,
      redis,
      upstreams: { 'domains-dns': stage.fixture.url },
      environment: { TRACKING_HTTP_PORT: String(httpPort), TRACKING_HTTPS_PORT: String(httpsPort) },
    })
    ends.push(
      () => gateway.stop(),
      () => stage.stop(),
      () => pebble.stop(),
      () => zone.stop(),
      () => kafka.delete(),
      () => redis.close(),
    )
  }, 90_000)
  afterAll(async () => {
    for (const end of ends) await end()
  })

  /** A tracked domain whose host leads to the gateway. */
  async function tracked(owner = tenant().owner, name = newName()): Promise<string> {
    zone.set(`link.${name}`, { type: 'A', address: '127.0.0.1' })
    return stage.tracked(owner, name)
  }

  async function certified(name: string) {
    const certificate = await waitFor(() => stage.find(name), { what: `a certificate of ${name}`, timeout: 30_000 })
    return certificate
  }

  it('get a certificate with which the edge serves the image, and become ready when it is installed', async () => {
    const { owner } = tenant()
    const name = await tracked(owner)
    const { chain, private_key } = await certified(name)
    const certificate = new X509Certificate(chain)
    expect(certificate.checkHost(`link.${name}`)).toBe(`link.${name}`)
    expect((await stage.fixture.row(owner, name)).certified_until).toEqual(certificate.validToDate)
    const state = await waitFor(
      () => stage.fixture.states.records.map(({ value }) => value).find((value) => value.includes(`"link.${name}"`)),
      { what: 'the state with the tracking host' },
    )
    expect(JSON.parse(state).data ?? JSON.parse(state)).toBeDefined()

    const request = get(`https://link.${name}:${httpsPort}/o/${TOKEN}`, {
      ca: await pebble.root(),
      agent: false,
      lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    const [response] = await once(request, 'response')
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/gif'])
    response.resume()

    const stored = await stage.stored(name)
    expect(stored?.private_key.includes(private_key)).toBe(false)
    expect(stored?.private_key.includes('PRIVATE KEY')).toBe(false)
  })

  it('renew their certificate in time, and the old one stays in use until then', async () => {
    const name = await tracked()
    const first = await certified(name)
    await stage.renew(name)
    const second = await waitFor(
      async () => {
        const found = await stage.find(name)
        return found?.chain !== first.chain ? found : undefined
      },
      { what: 'the renewed certificate', timeout: 30_000 },
    )
    expect(new X509Certificate(second.chain).serialNumber).not.toBe(new X509Certificate(first.chain).serialNumber)
    expect(second.private_key).not.toBe(first.private_key)
    expect(await stage.orders(name)).toMatchObject([{ outcome: 'issued' }, { outcome: 'issued' }])
  })

  it('lose key and certificate with their domain, which is revoked afterwards', async () => {
    const { owner } = tenant()
    const name = await tracked(owner)
    const { chain } = await certified(name)
    expect(await pebble.isRevoked(chain)).toBe(false)
    expect((await stage.fixture.call('domains.delete', owner, { domain: name })).status).toBe(204)
    expect(await stage.stored(name)).toBeUndefined()
    await waitFor(() => pebble.isRevoked(chain), { what: 'the revocation', timeout: 30_000 })
  })

  it('keep their certificate while another registration of the name needs it', async () => {
    const [one, other] = [tenant().owner, tenant().owner]
    const name = await tracked(one)
    const { chain } = await certified(name)
    await tracked(other, name)
    await stage.hurry(name)
    await waitFor(async () => (await stage.fixture.row(other, name)).certified_until !== null, {
      what: 'the certificate at the second registration',
    })
    expect(await stage.orders(name)).toHaveLength(1)
    await stage.fixture.call('domains.delete', one, { domain: name })
    expect((await stage.find(name))?.chain).toBe(chain)
    await stage.fixture.call('domains.update', other, { domain: name, body: { tracking_enabled: false } })
    expect(await stage.stored(name)).toBeUndefined()
    expect((await stage.fixture.row(other, name)).certified_until).toBeNull()
    await waitFor(() => pebble.isRevoked(chain), { what: 'the revocation', timeout: 30_000 })
  })

  it('order once with two replicas', async () => {
    const replica = await startService(
      domainsDns,
      domainsDns.configure({ ...stage.fixture.env, PORT: String(await freePort()) }),
    )
    try {
      const names = await Promise.all(Array.from({ length: 6 }, () => tracked()))
      await Promise.all(names.map(certified))
      for (const name of names) expect(await stage.orders(name)).toEqual([{ outcome: 'issued', retry_at: null }])
    } finally {
      await replica.stop()
    }
  })

  it('say why the authority could not prove them, and try again later', async () => {
    const name = newName()
    // The host leads nowhere.
    await stage.tracked(tenant().owner, name)
    const [order] = await waitFor(
      async () => {
        const orders = await stage.orders(name)
        return orders[0]?.outcome ? orders : undefined
      },
      { what: 'the failed order', timeout: 30_000 },
    )
    expect(order?.outcome).toBe('challenge_failed')
    expect(await stage.find(name)).toBeUndefined()
  })

  it('refuse a handshake for a host that has no certificate', async () => {
    const socket = connect({
      port: httpsPort,
      host: '127.0.0.1',
      servername: 'link.nobody.example',
      ca: await pebble.root(),
    })
    const [error] = await once(socket, 'error')
    expect(String(error)).toMatch(/handshake failure|ECONNRESET|alert/)
  })
})
