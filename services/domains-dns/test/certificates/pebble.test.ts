import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { get } from 'node:https'
import { describeAtFullLength, freePort, startService, waitFor } from '@restante/testkit'
import { service as domainsDns } from '../../src/main.ts'
import { newName, tenant } from '../support/fixture.ts'
import { type CertifiedStage, startCertifiedStage } from './certified-stage.ts'

const TOKEN = 'a'.repeat(43)

describeAtFullLength({ programs: ['pebble'] }, 'tracking hosts certified by a real ACME authority', () => {
  let stage: CertifiedStage

  beforeAll(async () => {
    stage = await startCertifiedStage()
  })
  afterAll(() => stage.stop())

  it('get a certificate with which the edge serves the image, and become ready when it is installed', async () => {
    const { owner } = tenant()
    const name = await stage.reachable(owner)
    const { chain, private_key } = await stage.certified(name)
    const certificate = new X509Certificate(chain)
    expect(certificate.checkHost(`link.${name}`)).toBe(`link.${name}`)
    expect((await stage.fixture.row(owner, name)).certified_until).toEqual(certificate.validToDate)
    await waitFor(
      () => stage.fixture.states.records.some(({ value }) => value.includes(`"tracking_host":"link.${name}"`)),
      {
        what: 'the state with the tracking host',
      },
    )

    const request = get(`https://link.${name}:${stage.httpsPort}/o/${TOKEN}`, {
      ca: await stage.pebble.root(),
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
    const name = await stage.reachable()
    const first = await stage.certified(name)
    await stage.renew(name)
    const second = await waitFor(
      async () => {
        const found = await stage.find(name)
        return found?.chain !== first.chain ? found : undefined
      },
      { what: 'the renewed certificate' },
    )
    expect(new X509Certificate(second.chain).serialNumber).not.toBe(new X509Certificate(first.chain).serialNumber)
    expect(second.private_key).not.toBe(first.private_key)
    expect(await stage.orders(name)).toMatchObject([{ outcome: 'issued' }, { outcome: 'issued' }])
  })

  it('are not ready any more when their certificate has expired, until there is another one', async () => {
    const { owner } = tenant()
    const name = await stage.reachable(owner)
    const first = await stage.certified(name)
    await stage.expire(name)
    const second = await waitFor(
      async () => {
        const found = await stage.find(name)
        return found?.chain !== first.chain ? found : undefined
      },
      { what: 'another certificate' },
    )
    expect((await stage.fixture.row(owner, name)).certified_until).toEqual(new Date(second.not_after))
    const ready = await waitFor(
      () => {
        const states = stage.fixture.states.records.filter(({ value }) => value.includes(`"domain":"${name}"`))
        const found = states.map(({ value }) => value.includes('"tracking_host"'))
        return found.filter(Boolean).length >= 2 ? found : undefined
      },
      { what: 'the states of the domain' },
    )
    expect(ready.slice(ready.indexOf(true))).toEqual([true, false, true])
  })

  it('lose key and certificate with their domain, which is revoked afterwards', async () => {
    const { owner } = tenant()
    const name = await stage.reachable(owner)
    const { chain } = await stage.certified(name)
    expect(await stage.pebble.isRevoked(chain)).toBe(false)
    expect((await stage.fixture.call('domains.delete', owner, { domain: name })).status).toBe(204)
    expect(await stage.stored(name)).toBeUndefined()
    await waitFor(() => stage.pebble.isRevoked(chain), { what: 'the revocation' })
  })

  it('keep their certificate while another registration of the name needs it', async () => {
    const [one, other] = [tenant().owner, tenant().owner]
    const name = await stage.reachable(one)
    const { chain } = await stage.certified(name)
    await stage.reachable(other, name)
    await waitFor(async () => (await stage.fixture.row(other, name)).certified_until !== null, {
      what: 'the certificate at the second registration',
    })
    expect(await stage.orders(name)).toHaveLength(1)
    await stage.fixture.call('domains.delete', one, { domain: name })
    expect((await stage.find(name))?.chain).toBe(chain)
    await stage.fixture.call('domains.update', other, { domain: name, body: { tracking_enabled: false } })
    expect(await stage.stored(name)).toBeUndefined()
    expect((await stage.fixture.row(other, name)).certified_until).toBeNull()
    await waitFor(() => stage.pebble.isRevoked(chain), { what: 'the revocation' })
  })

  it('order once with two replicas', async () => {
    const replica = await startService(
      domainsDns,
      domainsDns.configure({ ...stage.fixture.env, PORT: String(await freePort()) }),
    )
    try {
      const names = await Promise.all(Array.from({ length: 6 }, () => stage.reachable()))
      await Promise.all(names.map((name) => stage.certified(name)))
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
      { what: 'the failed order' },
    )
    expect(order?.outcome).toBe('challenge_failed')
    expect(await stage.find(name)).toBeUndefined()
  })
})
