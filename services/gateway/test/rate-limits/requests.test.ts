import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { Wire } from '@restante/service/testing'
import { StreamClient, waitFor } from '@restante/testkit'
import { type Answer, type Api, startGateway, type TestGateway } from '../gateway.ts'
import { askSigned, newKey, registerKey } from '../signatures/signing.ts'

/** One request an hour: a bucket that a test empties stays empty. */
const TIGHT = {
  TRUSTED_PROXIES: '127.0.0.0/8',
  RATE_LIMIT_ORGANIZATION: '1/h',
  RATE_LIMIT_ORGANIZATION_BURST: '12',
  RATE_LIMIT_CREDENTIAL: '1/h',
  RATE_LIMIT_CREDENTIAL_BURST: '8',
  RATE_LIMIT_SIGN_UP: '3/h',
  RATE_LIMIT_FAILED_AUTHENTICATION: '5/h',
  RATE_LIMIT_DOWNLOAD: '3/h',
}

const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

const me = '/v0/auth/me'

describe('rate limits', () => {
  let gateway: TestGateway
  let second: { as: (key?: string) => Api }
  let names = 0

  beforeAll(async () => {
    gateway = await startGateway(TIGHT)
    second = await gateway.another()
  })
  afterAll(() => gateway.stop())

  const from = (peer: string): Record<string, string> => ({ 'x-forwarded-for': peer })
  const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort()
  const times = (count: number, ask: () => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, ask))
  const signUp = (peer: string, body: unknown = { username: `limited-${++names}` }) =>
    gateway.as().post('/v0/agent/sign-up', body, from(peer))

  function handshake(target: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number | undefined; headers: object; body: string }>((resolve, reject) => {
      const outgoing = request({ port: gateway.port, path: target, headers: { ...HANDSHAKE, ...headers } })
      outgoing.once('error', reject)
      outgoing.once('response', async (answer) =>
        resolve({ status: answer.statusCode, headers: answer.headers, body: await text(answer) }),
      )
      outgoing.once('upgrade', (answer, socket) => {
        socket.destroy()
        resolve({ status: answer.statusCode, headers: answer.headers, body: '' })
      })
      outgoing.end()
    })
  }

  it('admits the burst of a key, and answers the next request with Retry-After', async () => {
    const { api } = await gateway.organization()
    const answers = await times(11, () => api.get(me))
    expect(statuses(answers)).toEqual([...Array(8).fill(200), 429, 429, 429])
    const { headers, body } = answers.find(({ status }) => status === 429) ?? (await api.get(me))
    expect(body).toMatchObject({
      name: 'RateLimitError',
      code: 'rate_limit_exceeded',
      message: 'Too many requests with this API key',
      fix: expect.stringContaining('1 per hour, at most 8 at once'),
    })
    const retryAfter = Number(headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThan(3_540)
    expect(retryAfter).toBeLessThanOrEqual(3_600)
    expect(Math.abs(Number(headers.get('x-ratelimit-reset')) - Date.now() / 1_000 - retryAfter)).toBeLessThan(60)
  })

  it('does not mention limits to clients within them', async () => {
    const { api } = await gateway.organization()
    const names = [...(await api.get(me)).headers.keys()]
    expect(names.filter((name) => name.startsWith('x-ratelimit') || name === 'retry-after')).toEqual([])
  })

  it('counts an organization over its keys and over all gateways', async () => {
    const { key, api } = await gateway.organization()
    const made = await api.post('/v0/api-keys', { name: 'second' })
    const other = String(made.body['api_key'])
    const answers = await Promise.all([
      times(7, () => second.as(key).get(me)),
      times(8, () => gateway.as(other).get(me)),
    ])
    expect(statuses(answers.flat()).filter((status) => status === 200)).toHaveLength(11)
    const { status, body } = await second.as(other).get(me)
    expect([status, body['message']]).toEqual([429, 'Too many requests of this organization'])
  })

  it('rounds a wait below a second up to a whole one, and then admits the next request', async () => {
    const quick = await gateway.another({ RATE_LIMIT_CREDENTIAL: '2/s', RATE_LIMIT_CREDENTIAL_BURST: '2' })
    const { key } = await gateway.organization()
    const answers = await times(4, () => quick.as(key).get(me))
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1')
    await waitFor(async () => (await quick.as(key).get(me)).status === 200, { what: 'the next request to pass' })
  })

  describe('limits per client', () => {
    it('limits sign-ups of an IPv4 address, successful or not', async () => {
      const answers = [await signUp('203.0.113.7'), await signUp('203.0.113.7', {}), await signUp('::ffff:203.0.113.7')]
      expect(statuses(answers)).toEqual([200, 200, 400])
      const { status, headers, body } = await signUp('203.0.113.7')
      expect([status, body['message']]).toEqual([429, 'Too many sign-ups from this address'])
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(1_000)
      expect((await signUp('203.0.113.8')).status).toBe(200)
    })

    it('limits downloads with one link, for all clients, gateways and spellings', async () => {
      const link = (token: string) => `/v0/files/${token}`
      const passed = [
        await gateway.as().get(link('claims.mac'), from('203.0.113.20')),
        await second.as().get(link('claims.mac'), from('203.0.113.21')),
        await gateway.as().get(link('claims%2Emac/'), from('203.0.113.22')),
      ]
      expect(statuses(passed)).toEqual([200, 200, 200])
      for (const target of [link('claims.mac'), link('claims%2emac'), `${link('%63laims.mac')}?again`]) {
        const { status, headers, body } = await second.as().get(target, from('203.0.113.23'))
        expect([status, body['code'], body['message']]).toEqual([
          429,
          'rate_limit_exceeded',
          'Too many downloads with this link',
        ])
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(1_000)
      }
      expect((await gateway.as().get(link('others.mac'), from('203.0.113.23'))).status).toBe(200)
    })

    it('limits reads of one calendar feed likewise', async () => {
      const read = () => gateway.as().get('/v0/calendar-feeds/secret', from('203.0.113.24'))
      expect(statuses([await read(), await read(), await read(), await read()])).toEqual([200, 200, 200, 429])
    })

    it('limits sign-ups of the /64 of an IPv6 address, however it is written', async () => {
      await signUp('2001:db8:0:1::1')
      await signUp('2001:DB8::1:dead:beef:0:1')
      await signUp('2001:0db8:0000:0001:ffff::')
      expect((await signUp('2001:db8:0:1:2:3:4:5')).status).toBe(429)
      expect((await signUp('2001:db8:0:2::1')).status).toBe(200)
    })

    it('refuses requests without a valid key once a client has sent too many, and accepts valid keys', async () => {
      const { api } = await gateway.organization()
      const bad = (headers: Record<string, string>) => gateway.as('am_us_wrong').get(me, headers)
      const peer = from('198.51.100.1')
      const answers = [...(await times(4, () => bad(peer))), await gateway.as().get(me, peer)]
      expect(statuses(answers)).toEqual(Array(5).fill(401))
      const { status, body } = await bad(peer)
      expect([status, body['message']]).toEqual([429, 'Too many requests without a valid API key from this address'])
      expect((await gateway.as().get(me, peer)).status).toBe(429)
      expect((await api.get(me, peer)).status).toBe(200)
      expect((await bad(from('198.51.100.2'))).status).toBe(401)
      const { keyId, privateKey } = await registerKey(api)
      const signed = (key = privateKey) =>
        askSigned(gateway.url, { keyId, privateKey: key, method: 'GET', path: me, headers: peer })
      expect([(await signed()).status, (await signed(newKey().privateKey)).status]).toEqual([200, 429])
    })

    it('trusts X-Forwarded-For only up to the last untrusted address', async () => {
      const direct = await gateway.another({ TRUSTED_PROXIES: '10.0.0.1' })
      const bad = (api: Api, chain: string) => api.get(me, from(chain))
      // Not through a trusted proxy: whatever the header says, the client is the connected address.
      const outside = []
      for (let index = 0; index < 6; index++) outside.push(await bad(direct.as('am_us_wrong'), `192.0.2.${index}`))
      expect(outside.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
      // Through a proxy: the client may begin the list with anything.
      const invented = []
      for (let index = 0; index < 6; index++) {
        invented.push(await bad(gateway.as('am_us_wrong'), `192.0.2.${index}, 198.51.100.9, 127.0.0.2`))
      }
      expect(invented.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
      // Not an address: the proxy itself counts as the client, whose limit the first six have used up.
      expect((await bad(gateway.as('am_us_wrong'), 'unknown')).status).toBe(429)
    })

    it('passes the client address on to the services', async () => {
      const { api } = await gateway.organization()
      gateway.behind.record()
      await api.get('/v0/webhooks', { ...from('2001:DB8::9'), 'x-restante-peer': '192.0.2.1' })
      expect(gateway.behind.seen.at(-1)?.headers['x-restante-peer']).toBe('2001:db8::9')
    })

    it('can exempt clients on the same machine', async () => {
      const sparing = await gateway.another({ RATE_LIMIT_EXEMPT_LOOPBACK: 'true' })
      const { key } = await gateway.organization()
      expect(new Set(statuses(await times(20, () => sparing.as(key).get(me))))).toEqual(new Set([200]))
      expect(statuses(await times(9, () => sparing.as(key).get(me, from('203.0.113.50')))).at(-1)).toBe(429)
    })
  })

  describe('WebSocket handshakes', () => {
    beforeEach(() => {
      gateway.behind.upgrade = (_incoming, socket) => {
        socket.on('error', () => socket.destroy())
        socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
      }
    })

    it('count as requests', async () => {
      const { key, api } = await gateway.organization()
      const open = () => handshake(`/v0?api_key=${key}`)
      const opened = await Promise.all(Array.from({ length: 5 }, open))
      expect(opened.map(({ status }) => status)).toEqual(Array(5).fill(101))
      await times(3, () => api.get(me))
      const stream = await StreamClient.open(`ws://127.0.0.1:${gateway.port}/v0?api_key=${key}`)
      await stream.ended()
      expect(stream.closed).toEqual({
        code: 1013,
        reason: expect.stringMatching(/^Too many requests with this API key; try again in \d+ s$/),
      })
    })

    it('count as failed authentications', async () => {
      const peer = from('198.51.100.77')
      for (let index = 0; index < 5; index++) {
        expect((await handshake('/v0?api_key=am_us_wrong', peer)).status).toBe(403)
      }
      expect((await handshake('/v0?api_key=am_us_wrong', peer)).status).toBe(429)
      expect((await gateway.as('am_us_wrong').get(me, peer)).status).toBe(429)
    })
  })

  it('admits requests while Redis is down, each gateway counting for itself, and counts for all again afterwards', async () => {
    const wire = await Wire.to(gateway.env['REDIS_URL'] ?? '')
    const lonely = await gateway.another({ REDIS_CACHE_URL: wire.through(gateway.env['REDIS_URL'] ?? '') })
    const { key } = await gateway.organization()
    await times(8, () => gateway.as(key).get(me))
    const [before] = await times(1, () => lonely.as(key).get(me))
    wire.cut()
    await waitFor(async () => Object.keys(await lonely.service.degradations()).includes('rate limits'), {
      what: 'the outage',
    })
    const { key: other } = await gateway.organization()
    const during = await times(10, () => lonely.as(other).get(me))
    expect(await lonely.service.problems()).toEqual({})
    await wire.restore()
    await waitFor(async () => Object.keys(await lonely.service.degradations()).length === 0, { what: 'Redis' })
    const after = await times(9, () => gateway.as(other).get(me))
    wire.cut()
    expect([before?.status, statuses(during), statuses(after)]).toEqual([
      429,
      [...Array(8).fill(200), 429, 429],
      [...Array(8).fill(200), 429],
    ])
  })

  describe('come before every other check but those of route and key', () => {
    it('404 for an unknown route and 401 for a bad key cost an organization nothing', async () => {
      const { api } = await gateway.organization()
      await times(20, () => api.get('/v0/nothing'))
      expect((await api.get(me)).status).toBe(200)
    })

    it('429 rather than 403, 404, 400 or 413', async () => {
      const { api } = await gateway.organization()
      const inbox = await api.post('/v0/inboxes', { username: 'in-order' })
      const made = await api.post(`/v0/inboxes/${inbox.body['inbox_id']}/api-keys`, {})
      const key = gateway.as(String(made.body['api_key']))
      await times(8, () => key.get(me))
      const wrong = await Promise.all([
        key.get('/v0/pods'),
        key.get('/v0/inboxes/nobody@restante.test'),
        key.post('/v0/inboxes', '{'),
        key.post('/v0/inboxes', { username: 'x'.repeat(1_100_000) }),
      ])
      expect(statuses(wrong)).toEqual([429, 429, 429, 429])
    })
  })
})
