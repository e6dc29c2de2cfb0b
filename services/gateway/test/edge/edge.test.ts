import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { freePort } from '@restante/testkit'
import { request } from 'undici'
import { startGateway, type TestGateway } from '../gateway.ts'

describe('the public edge', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway({ METRICS_PORT: '0' })
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  function authorized(more: Record<string, string> = {}) {
    return { authorization: `Bearer ${organization.key}`, ...more }
  }

  describe('routes', () => {
    it.each([
      '/v1/inboxes',
      '/v0/nothing',
      '/v0/inboxes//messages',
      '/v0/pods/a/inboxes/b/messages',
      '/v0/inboxes/%E0%A4%A',
      '/docs/../secrets',
      '/docs/package.json',
      '/.well-known/agentid-configuration',
    ])('404 for %s, before it asks for a key', async (path) => {
      const { statusCode, body } = await request(`${gateway.url}${path}`)
      expect(statusCode).toBe(404)
      expect(await body.json()).toMatchObject({ code: 'not_found', message: 'Route not found' })
    })

    it.each(['/webhooks/polling', '/inboxes/search/messages/m'])(
      '404 for %s, which is not taken for an id',
      async (path) => {
        const { status, headers, body } = await organization.api.get(`/v0${path}`)
        expect([status, body['message'], headers.get('allow')]).toEqual([404, 'Route not found', null])
      },
    )

    it('names the prefix when only that is missing from a path', async () => {
      const ask = async (path: string, method: 'GET' | 'DELETE' = 'GET') =>
        (await request(`${gateway.url}${path}`, { method })).body.json()
      const fix = 'Paths begin with /v0'
      expect(await ask('/inboxes?limit=1')).toMatchObject({ code: 'not_found', message: 'Route not found', fix })
      expect(await ask('/inboxes/desk@restante.test/messages/m', 'DELETE')).toMatchObject({ fix })
      for (const path of ['/nothing', '/v1/inboxes', '/v0/nothing']) expect(await ask(path)).not.toHaveProperty('fix')
    })

    it('names the allowed methods of a path', async () => {
      const { status, headers } = await organization.api.post('/v0/auth/me')
      expect([status, headers.get('allow')]).toEqual([404, 'GET, HEAD, OPTIONS'])
    })

    it('answers a client that offers HTTP/2 by an upgrade as if it did not', async () => {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = authorized({
          connection: 'Upgrade, HTTP2-Settings',
          upgrade: 'h2c',
          'http2-settings': 'AAMAAABk',
        })
        const outgoing = httpRequest(`${gateway.url}/v0/auth/me`, { headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        outgoing.once('error', reject).end()
      })
      expect(status).toBe(200)
    })

    it('tolerates one trailing slash, and an unencoded address', async () => {
      expect((await organization.api.get('/v0/auth/me/')).status).toBe(200)
      await organization.api.post('/v0/inboxes', { username: 'plain' })
      expect((await organization.api.get('/v0/inboxes/plain@restante.test/')).status).toBe(200)
    })

    it('answers HEAD as GET without a body', async () => {
      const { statusCode, headers, body } = await request(`${gateway.url}/v0/auth/me`, {
        method: 'HEAD',
        headers: authorized(),
      })
      expect([statusCode, Number(headers['content-length']) > 0, await body.text()]).toEqual([200, true, ''])
    })
  })

  describe('browsers', () => {
    it('answers a preflight without a key and allows what is asked', async () => {
      const { statusCode, headers, body } = await request(`${gateway.url}/v0/inboxes`, {
        method: 'OPTIONS',
        headers: { 'access-control-request-headers': 'authorization,x-fern-language' },
      })
      expect([statusCode, await body.text()]).toEqual([204, ''])
      expect(headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, POST, PATCH, DELETE, OPTIONS',
        'access-control-allow-headers': 'authorization,x-fern-language',
        'access-control-max-age': '86400',
      })
    })

    it('allows every origin to read responses and errors', async () => {
      for (const headers of [authorized(), {}]) {
        const answer = await request(`${gateway.url}/v0/auth/me`, { headers })
        await answer.body.dump()
        expect(answer.headers).toMatchObject({
          'access-control-allow-origin': '*',
          'access-control-expose-headers': 'Retry-After, X-Request-Id, ETag',
        })
      }
    })
  })

  describe('request ids', () => {
    it('keeps a valid request id and replaces any other', async () => {
      const ids = await Promise.all(
        ['req-1', 'x'.repeat(129), undefined].map(async (id) => {
          const headers = authorized(id === undefined ? {} : { 'x-request-id': id })
          const answer = await request(`${gateway.url}/v0/auth/me`, { headers })
          await answer.body.dump()
          return answer.headers['x-request-id']
        }),
      )
      expect(ids).toEqual(['req-1', expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)])
    })
  })

  describe('compression', () => {
    it('compresses bodies above 1 KiB for clients that accept gzip, and leaves small ones alone', async () => {
      const { api, key } = await gateway.organization()
      for (let index = 0; index < 8; index++) await api.post('/v0/inboxes')
      const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'gzip' }
      const large = await request(`${gateway.url}/v0/inboxes`, { headers })
      expect(large.headers['content-encoding']).toBe('gzip')
      const document = JSON.parse(gunzipSync(await large.body.bytes()).toString())
      expect(document.count).toBe(8)
      const small = await request(`${gateway.url}/v0/auth/me`, { headers })
      await small.body.dump()
      expect(small.headers['content-encoding']).toBeUndefined()
    })
  })

  describe('sizes', () => {
    it('413 payload_too_large for a body above 1 MB', async () => {
      const { status, body } = await organization.api.post('/v0/inboxes', { username: 'x'.repeat(1_100_000) })
      expect([status, body['code'], body['name']]).toEqual([413, 'payload_too_large', 'PayloadTooLargeError'])
    })

    it('414 for a URL above 16 KB', async () => {
      const { status, body } = await organization.api.get(`/v0/auth/me?x=${'x'.repeat(16_400)}`)
      expect([status, body]).toEqual([414, { message: 'URI Too Long' }])
    })

    it('431 for a header block above 32 KB', async () => {
      const { statusCode, body } = await request(`${gateway.url}/v0/auth/me`, {
        headers: { 'x-long': 'x'.repeat(40_000) },
      })
      await body.dump()
      expect(statusCode).toBe(431)
    })
  })

  describe('documents', () => {
    it('serves the OpenAPI document and its viewer, and loads nothing from elsewhere', async () => {
      const openapi = await gateway.as().get('/openapi.json')
      expect(openapi.body).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) })
      for (const path of ['/docs', '/docs/', '/docs/start.js', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js']) {
        const { statusCode, body } = await request(`${gateway.url}${path}`)
        expect([
          path,
          statusCode,
          /https?:\/\/(?!www\.w3\.org)[^"]*\.(js|css)/.test((await body.text()).slice(0, 2_000)),
        ]).toEqual([path, 200, false])
      }
    })

    it.each(['/docs/swagger-ui-bundle.js', '/docs/swagger-ui.css', '/openapi.json'])(
      'sends %s compressed beforehand to those who take that, with its length',
      async (path) => {
        const asked = async (accepted: string) => {
          const { headers, body } = await request(`${gateway.url}${path}`, { headers: { 'accept-encoding': accepted } })
          return { headers, bytes: Buffer.from(await body.arrayBuffer()) }
        }
        const gzipped = await asked('deflate, gzip')
        const plain = await asked('gzip;q=0')
        expect([gzipped.headers['content-encoding'], plain.headers['content-encoding']]).toEqual(['gzip', undefined])
        for (const { headers, bytes } of [gzipped, plain]) {
          expect([Number(headers['content-length']), headers.vary]).toEqual([bytes.length, 'Accept-Encoding'])
        }
        expect(gunzipSync(gzipped.bytes).equals(plain.bytes)).toBe(true)
      },
    )

    it.each(['/.well-known/agentid-configuration', '/v0/.well-known/agentid-configuration'])(
      'says at %s where agents sign in, to browsers too',
      async (path) => {
        const other = await gateway.another({ AUTH_BASE: 'https://signin.restante.test/' })
        const { status, headers, body } = await other.as().get(path)
        expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
        expect(body).toEqual({
          issuer: 'https://signin.restante.test',
          authorize_endpoint: 'https://api.restante.test/v0/inboxes/{inbox_id}/authorize',
          connect_endpoint: 'https://api.restante.test/v0/apps/{app_id}/connect',
        })
      },
    )
  })

  describe('operations of other services', () => {
    it('never shows metrics or internal operations', async () => {
      const metrics = await request(`${gateway.url}/metrics`)
      const internal = await request(`${gateway.url}/internal/credentials/verify`, { method: 'POST', body: '{}' })
      expect([metrics.statusCode, internal.statusCode]).toEqual([404, 404])
      await Promise.all([metrics.body.dump(), internal.body.dump()])
    })

    it('shows metrics, and nothing of the API, on a port of their own, with time limits too', async () => {
      const port = await freePort()
      await gateway.another({ METRICS_PORT: String(port), HTTP_HEADERS_TIMEOUT: '2s' })
      const metrics = await request(`http://127.0.0.1:${port}/metrics`)
      expect(metrics.statusCode).toBe(200)
      expect(await metrics.body.text()).toContain('restante_http_requests_total')
      const api = await request(`http://127.0.0.1:${port}/v0/inboxes`)
      expect(api.statusCode).toBe(404)
      expect(await api.body.json()).toMatchObject({ code: 'not_found' })
      const slow = connect(port, '127.0.0.1')
      slow.write('GET /metrics HTTP/1.1\r\n')
      expect(await text(slow)).toMatch(/^HTTP\/1\.1 408 /)
    })

    it('is alive and ready', async () => {
      expect((await gateway.as().get('/healthz')).status).toBe(200)
      expect((await gateway.as().get('/readyz')).status).toBe(200)
    })

    it('includes the services behind it in its readiness only when configured', async () => {
      const strict = await gateway.another({ READY_INCLUDES_UPSTREAMS: 'true' })
      expect((await strict.as().get('/readyz')).status).toBe(200)
    })
  })

  describe('a plain request to the stream', () => {
    it('426 with the required protocol', async () => {
      const answer = await new Promise<{ status: number | undefined; upgrade: string | undefined; body: string }>(
        (resolve, reject) => {
          const outgoing = httpRequest(`${gateway.url}/v0`, { headers: authorized() }, async (response) => {
            resolve({ status: response.statusCode, upgrade: response.headers.upgrade, body: await text(response) })
          })
          outgoing.once('error', reject).end()
        },
      )
      expect(answer).toEqual({ status: 426, upgrade: 'websocket', body: '{"message":"Upgrade Required"}' })
    })

    it('closes the connection when the client requested that', async () => {
      const peer = connect(Number(new URL(gateway.url).port), '127.0.0.1')
      peer.write('GET /v0 HTTP/1.1\r\nHost: restante.test\r\nConnection: close\r\n\r\n')
      expect(await text(peer)).toMatch(/^HTTP\/1\.1 426 .*\r\nconnection: upgrade, close\r\n/s)
    })
  })
})
