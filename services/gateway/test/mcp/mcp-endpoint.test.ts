import { request as httpRequest } from 'node:http'
import { MCP_ENDPOINT } from '@restante/contracts/operations'
import { LIMITS } from '@restante/contracts/vocabulary'
import { CALLER_HEADER, KEY_HEADER, verifyCaller } from '@restante/service/identity'
import { trueUntil, waitFor } from '@restante/testkit'
import { type Dispatcher, request } from 'undici'
import { CALLER_KEY, PUBLIC_URL, startGateway, type TestGateway } from '../gateway.ts'
import { askSigned, registerKey } from '../signatures/signing.ts'

const ORIGIN = 'https://chat.test'
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

describe('the MCP endpoint at the gateway', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  beforeAll(async () => {
    gateway = await startGateway({ MCP_ORIGINS: `${ORIGIN},http://localhost:6274` })
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())
  beforeEach(() => {
    gateway.behind.seen.length = 0
    gateway.behind.record()
  })

  interface Asked {
    readonly method?: Dispatcher.HttpMethod
    readonly path?: string
    readonly key?: string | undefined
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | null
  }

  async function ask({ method = 'POST', path = '/mcp', headers = {}, body = CALL, ...given }: Asked = {}) {
    const key = 'key' in given ? given.key : organization.key
    const answer = await request(`${gateway.url}${path}`, {
      method,
      headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
      body,
    })
    const text = await answer.body.text()
    const document: Record<string, unknown> = text.startsWith('{') ? JSON.parse(text) : { text }
    return { status: answer.statusCode, headers: answer.headers, document, seen: gateway.behind.seen.splice(0) }
  }

  describe('a request with a key', () => {
    it('reaches the service with its caller, its key and its body', async () => {
      const { status, seen } = await ask()
      expect([status, seen.length]).toEqual([200, 1])
      const [{ method, path, body } = {}] = seen
      expect([method, path, String(body)]).toEqual(['POST', '/mcp', CALL])
      const headers = { ...seen[0]?.headers }
      expect(headers[KEY_HEADER]).toBe(`Bearer ${organization.key}`)
      expect(headers).not.toHaveProperty('authorization')
      const { caller } = await verifyCaller(String(headers[CALLER_HEADER]), CALLER_KEY, 'mcp', MCP_ENDPOINT.id)
      expect(caller).toMatchObject({ organization_id: organization.id, credential: { tier: 'organization' } })
    })

    it('reaches it with a slash at the end too', async () => {
      expect((await ask({ path: '/mcp/' })).status).toBe(200)
    })

    it("brings none of the client's own x-restante headers", async () => {
      const mine = {
        [KEY_HEADER]: 'Bearer am_forged',
        [CALLER_HEADER]: 'forged',
        'X-Restante-Peer': '203.0.113.9',
        'x-restante-anything': 'forged',
      }
      const { seen } = await ask({ headers: mine })
      const [{ rawHeaders = [] } = {}] = seen
      expect(rawHeaders.filter((value) => value.includes('forged') || value === '203.0.113.9')).toEqual([])
      expect(rawHeaders.map((name) => name.toLowerCase())).not.toContain('x-restante-anything')
      const keys = rawHeaders.filter((name) => name.toLowerCase() === KEY_HEADER)
      expect(keys).toHaveLength(1)
    })

    it('passes the answer on as it is, in JSON or as a stream', async () => {
      gateway.behind.answer = (_incoming, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n')
      }
      const { headers, document } = await ask()
      expect([headers['content-type'], document]).toEqual(['text/event-stream', { text: 'data: {}\n\n' }])
    })
  })

  describe('a request without a valid key', () => {
    it.each([
      ['no key', {}],
      ['a wrong key', { authorization: `Bearer am_us_${'0'.repeat(64)}` }],
      ['something else than a bearer key', { authorization: 'Basic eDp5' }],
    ])('is 401 with WWW-Authenticate: %s', async (_what, headers) => {
      const { status, headers: answered, seen } = await ask({ key: undefined, headers })
      expect([status, answered['www-authenticate'], seen]).toEqual([401, 'Bearer', []])
    })

    it('is 401 with the key in the query alone, which would be logged', async () => {
      const { status, seen } = await ask({ key: undefined, path: `/mcp?api_key=${organization.key}` })
      expect([status, seen]).toEqual([401, []])
    })

    it('is 401 with a valid signature, and says that a key is needed', async () => {
      const signer = await registerKey(organization.api)
      const answer = await askSigned(gateway.url, { ...signer, method: 'POST', path: '/mcp', body: CALL })
      expect(answer).toMatchObject({
        status: 401,
        body: { code: 'missing_authorization', message: expect.stringContaining('API key') },
      })
      expect(String(answer.body['fix'])).toContain('Authorization: Bearer')
      expect(gateway.behind.seen).toEqual([])
    })

    it('is 401 at once after its key was deleted, and within a second at another gateway', async () => {
      const { body } = await organization.api.post('/v0/api-keys', {})
      const key = String(body['api_key'])
      const other = await gateway.another()
      const elsewhere = async () => (await other.as(key).post('/mcp', CALL)).status
      expect([(await ask({ key })).status, await elsewhere()]).toEqual([200, 200])
      await organization.api.delete(`/v0/api-keys/${body['api_key_id']}`)
      const [{ status }, admittedMs] = await Promise.all([
        ask({ key }),
        trueUntil(async () => (await elsewhere()) !== 401, { what: 'the other gateway to refuse the key' }),
      ])
      expect(status).toBe(401)
      expect(admittedMs).toBeLessThan(LIMITS.apiKey.cache)
    })
  })

  describe('a key of an agent that is not verified', () => {
    it('is admitted as unverified; a provisional one is 403 and learns how it is verified', async () => {
      const person = { username: 'early', human_email: 'early@people.test' }
      const { body: first } = await gateway.as().post('/v0/agent/sign-up', person)
      const { status, seen } = await ask({ key: String(first['api_key']) })
      expect(status).toBe(200)
      const token = String(seen[0]?.headers[CALLER_HEADER])
      expect((await verifyCaller(token, CALLER_KEY, 'mcp', MCP_ENDPOINT.id)).caller).toMatchObject({ unverified: true })
      gateway.behind.received.add(String(first['organization_id']))
      await waitFor(() => gateway.behind.systemMails.length > 0, { what: 'the code mail' })
      const { body: second } = await gateway.as().post('/v0/agent/sign-up', person)
      const refused = await ask({ key: String(second['api_key']) })
      expect([refused.status, refused.document['code'], refused.seen]).toEqual([403, 'missing_permission', []])
      expect(refused.document['fix']).toContain('/v0/agent/verify')
    })
  })

  describe('a page in a browser', () => {
    it('is allowed to read the answer when its origin is one of MCP_ORIGINS, or that of PUBLIC_URL', async () => {
      for (const origin of [ORIGIN, 'http://localhost:6274', PUBLIC_URL]) {
        const { status, headers } = await ask({ headers: { origin } })
        expect([status, headers['access-control-allow-origin'], headers['vary']]).toEqual([200, origin, 'Origin'])
        expect(headers['access-control-expose-headers']).toContain('WWW-Authenticate')
      }
    })

    it('learns in a readable answer that its key is wrong', async () => {
      const { status, headers } = await ask({ key: undefined, headers: { origin: ORIGIN } })
      expect([status, headers['access-control-allow-origin'], headers['www-authenticate']]).toEqual([
        401,
        ORIGIN,
        'Bearer',
      ])
    })

    it('gets its preflight answered, without a key', async () => {
      const preflight = {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,mcp-protocol-version',
      }
      const { status, headers } = await ask({ method: 'OPTIONS', key: undefined, headers: preflight, body: null })
      expect([status, headers['access-control-allow-origin']]).toEqual([204, ORIGIN])
      expect(headers['access-control-allow-headers']).toBe(preflight['access-control-request-headers'])
      expect(headers['access-control-allow-methods']).toContain('POST')
    })

    it.each(['https://evil.test', 'null', 'https://chat.test.evil.test', 'http://chat.test', 'https://chat.test:8443'])(
      'is 403 from the origin %s, with a key and before one is looked at, and nothing is allowed',
      async (origin) => {
        for (const asked of [{}, { key: undefined }, { method: 'OPTIONS' as const, body: null }]) {
          const { status, headers, document, seen } = await ask({ headers: { origin }, ...asked })
          expect([status, document['code'], seen]).toEqual([403, 'forbidden', []])
          expect(document['fix']).toContain('MCP_ORIGINS')
          expect(headers).not.toHaveProperty('access-control-allow-origin')
        }
      },
    )
  })

  describe('other requests', () => {
    it.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'] as const)(
      '%s is 405 and names what is allowed',
      async (method) => {
        for (const key of [organization.key, undefined]) {
          const { status, headers, seen } = await ask({ method, key, body: null })
          expect([status, headers['allow'], seen]).toEqual([405, 'POST, OPTIONS', []])
        }
      },
    )

    it('are 413 above 6 MB by their declared length, before the service sees anything', async () => {
      const declared = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${organization.key}`, 'content-length': 6 * 1_024 * 1_024 + 1 }
        const outgoing = httpRequest(`${gateway.url}/mcp`, { method: 'POST', headers })
        outgoing.once('error', reject)
        outgoing.once('response', (answer) => {
          resolve(answer.statusCode)
          outgoing.destroy()
        })
        outgoing.flushHeaders()
      })
      expect(declared).toBe(413)
      expect(gateway.behind.seen).toEqual([])
    })

    it('below the endpoint find nothing', async () => {
      expect((await ask({ path: '/mcp/sse' })).status).toBe(404)
      expect((await ask({ path: '/v0/mcp' })).status).toBe(404)
    })
  })
})
