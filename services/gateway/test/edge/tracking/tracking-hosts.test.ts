import { once } from 'node:events'
import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { connect, type TLSSocket } from 'node:tls'
import { freePort, selfSigned } from '@restante/testkit'
import { startGateway, type TestGateway } from '../../gateway.ts'

const TOKEN = 'b'.repeat(43)
const HOST = 'link.example.com'
const CHALLENGE = 'c'.repeat(43)

describe('tracking hosts of custom domains', () => {
  let gateway: TestGateway
  let httpsPort: number
  let httpPort: number
  let trusted: string

  beforeAll(async () => {
    ;[httpsPort, httpPort] = [await freePort(), await freePort()]
    gateway = await startGateway({
      TRACKING_HTTPS_PORT: String(httpsPort),
      TRACKING_HTTP_PORT: String(httpPort),
      RATE_LIMIT_CHALLENGE: '20/h',
    })
    trusted = await certify(HOST)
    gateway.behind.challenges.set(`${HOST} ${CHALLENGE}`, 'the key authorization')
  })
  afterAll(() => gateway.stop())

  /** Installs a certificate at the owner of custom domains. @returns it. */
  async function certify(host: string): Promise<string> {
    const { certificate: chain, privateKey: private_key } = await selfSigned(host)
    const not_after = new Date(Date.now() + 3_600_000).toISOString()
    gateway.behind.certificates.set(host, { chain, private_key, not_after })
    return chain
  }

  async function read(asked: ReturnType<typeof request>) {
    const [response]: IncomingMessage[] = await once(asked, 'response')
    if (response === undefined) throw new Error('no response')
    return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) }
  }

  const secure = (path: string, more: { method?: string; host?: string; ca?: string } = {}) => {
    const { method = 'GET', host = HOST, ca = trusted } = more
    const options = { host: '127.0.0.1', port: httpsPort, path, method, servername: host, ca, agent: false }
    return read(request({ ...options, headers: { host } }).end())
  }
  const plain = (path: string, more: { method?: string; host?: string } = {}) => {
    const { method = 'GET', host = HOST } = more
    const options = { host: '127.0.0.1', port: httpPort, path, method, agent: false }
    return read(requestPlain({ ...options, headers: { host } }).end())
  }

  async function handshake(options: object): Promise<'accepted' | 'refused'> {
    const socket: TLSSocket = connect({ port: httpsPort, host: '127.0.0.1', ca: trusted, ...options })
    const outcome = Promise.race([
      once(socket, 'secureConnect').then(() => 'accepted' as const),
      once(socket, 'close').then(() => 'refused' as const),
    ])
    return outcome.catch(() => 'refused' as const).finally(() => socket.destroy())
  }

  it('serve the image over TLS with the certificate of the host, and its opening is recorded', async () => {
    gateway.behind.opened.length = 0
    const { status, headers } = await secure(`/o/${TOKEN}`)
    expect([status, headers['content-type']]).toEqual([200, 'image/gif'])
    expect(gateway.behind.opened).toEqual([TOKEN])
  })

  it.each(['/', '/v0/inboxes', '/docs', '/openapi.json', '/healthz', '/readyz', '/metrics', '/u/token', '/internal/x'])(
    'serve nothing else over TLS: %s',
    async (path) => {
      const { status, bytes } = await secure(path)
      expect([status, bytes.length]).toEqual([404, 0])
    },
  )

  it('ask for a certificate once, however many handshakes there are at a time', async () => {
    const host = 'link.busy.example'
    const ca = await certify(host)
    gateway.behind.askedHosts.length = 0
    await Promise.all(Array.from({ length: 20 }, () => secure(`/o/${TOKEN}`, { host, ca })))
    await secure(`/o/${TOKEN}`, { host, ca })
    expect(gateway.behind.askedHosts).toEqual([host])
  })

  it('refuse handshakes for hosts without a certificate, without a name, and below TLS 1.2', async () => {
    expect(await handshake({ servername: HOST })).toBe('accepted')
    expect(await handshake({ servername: 'link.nobody.example' })).toBe('refused')
    expect(await handshake({ servername: '' })).toBe('refused')
    expect(await handshake({ servername: HOST, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).toBe('refused')
  })

  it('ask about an unknown host once in a while only', async () => {
    gateway.behind.askedHosts.length = 0
    for (let count = 0; count < 5; count++) await handshake({ servername: 'link.stranger.example' })
    expect(gateway.behind.askedHosts).toEqual(['link.stranger.example'])
  })

  it('close connections that speak no TLS, and go on', async () => {
    const socket = connectPlain(httpsPort, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nhost: link.example.com\r\n\r\n')
    await once(socket, 'close')
    expect((await secure(`/o/${TOKEN}`)).status).toBe(200)
  })

  it('answer the challenges of an authority over plain HTTP, for the host that it is about only', async () => {
    const { status, headers, bytes } = await plain(`/.well-known/acme-challenge/${CHALLENGE}`)
    expect([status, headers['content-type'], bytes.toString()]).toEqual([
      200,
      'application/octet-stream',
      'the key authorization',
    ])
    expect((await plain(`/.well-known/acme-challenge/${CHALLENGE}`, { host: 'link.other.example' })).status).toBe(404)
    expect((await plain(`/.well-known/acme-challenge/${'d'.repeat(43)}`)).status).toBe(404)
  })

  it.each(['short', `${CHALLENGE}%00`, `${CHALLENGE}/..`, 'e'.repeat(129), `${'f'.repeat(20)}.${'f'.repeat(20)}`])(
    'answer 404 to a token that is none: %s',
    async (token) => {
      expect((await plain(`/.well-known/acme-challenge/${token}`)).status).toBe(404)
    },
  )

  it.each([
    '',
    ':80',
    'link',
    'track.example.com',
    `link.${'a'.repeat(300)}.com`,
    '[::1]:80',
    'link.example.com:80:80',
    'link.é.com',
  ])('answer 404 at hosts that cannot be one, without a question about them: %s', async (host) => {
    gateway.behind.askedHosts.length = 0
    for (const path of [`/.well-known/acme-challenge/${CHALLENGE}`, `/o/${TOKEN}`])
      expect((await plain(path, { host })).status).toBe(404)
    expect(gateway.behind.askedHosts).toEqual([])
  })

  it.each(['LINK.example.com:80', 'link.example.com.', 'link.example.com.:8080'])(
    'are found by every spelling of their name: %s',
    async (host) => {
      expect((await plain(`/.well-known/acme-challenge/${CHALLENGE}`, { host })).status).toBe(200)
    },
  )

  it('lead from plain HTTP to HTTPS for images of known hosts, and nowhere else', async () => {
    const { status, headers } = await plain(`/o/${TOKEN}`)
    expect([status, headers.location]).toEqual([301, `https://${HOST}/o/${TOKEN}`])
    expect((await plain(`/o/${TOKEN}`, { host: 'evil.example' })).status).toBe(404)
    expect((await plain(`/o/${TOKEN}`, { method: 'POST' })).status).toBe(404)
    for (const path of ['/', '/v0/inboxes', '/readyz']) expect((await plain(path)).status).toBe(404)
  })

  it('limit the questions of one client about challenges', async () => {
    const statuses = []
    for (let count = 0; count < 25; count++) {
      statuses.push((await plain(`/.well-known/acme-challenge/${'g'.repeat(43)}`)).status)
    }
    expect(statuses.at(-1)).toBe(429)
  })
})
