import { sql } from '@restante/service/database'
import { startGateway, type TestGateway } from '../gateway.ts'

const expire = sql<never, [prefix: string]>(
  "update credentials set expires_at = now() - interval '1 s' where prefix = $1",
)

describe('GET /v0/auth/me', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  async function authorized(header: string | undefined) {
    const headers: Record<string, string> = header === undefined ? {} : { authorization: header }
    return gateway.as().get('/v0/auth/me', headers)
  }

  describe('200', () => {
    it('names the organization for an organization key', async () => {
      const { status, body, headers } = await organization.api.get('/v0/auth/me')
      expect(status).toBe(200)
      expect(body).toEqual({
        scope_type: 'organization',
        scope_id: organization.id,
        organization_id: organization.id,
        api_key_id: expect.any(String),
      })
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    })

    it('names the pod for a pod key', async () => {
      const { secret } = await gateway.operator.createKey({ organizationId: organization.id, pod: organization.id })
      const { body } = await gateway.as(secret).get('/v0/auth/me')
      expect(body).toEqual({
        scope_type: 'pod',
        scope_id: organization.id,
        pod_id: organization.id,
        organization_id: organization.id,
        api_key_id: expect.any(String),
      })
    })

    it('names inbox and pod for an inbox key', async () => {
      const inbox = await organization.api.post('/v0/inboxes', { username: 'who' })
      const address = String(inbox.body['inbox_id'])
      const { secret } = await gateway.operator.createKey({ organizationId: organization.id, inbox: address })
      const { body } = await gateway.as(secret).get('/v0/auth/me')
      expect(body).toEqual({
        scope_type: 'inbox',
        scope_id: 'who@restante.test',
        inbox_id: 'who@restante.test',
        pod_id: organization.id,
        organization_id: organization.id,
        api_key_id: expect.any(String),
      })
    })

    it('needs no permission', async () => {
      const { secret } = await gateway.operator.createKey({ organizationId: organization.id, permissions: [] })
      expect((await gateway.as(secret).get('/v0/auth/me')).status).toBe(200)
    })

    it('admits the key of a suspended organization', async () => {
      const suspended = await gateway.organization()
      await gateway.operator.setStatus(suspended.id, 'suspended')
      expect((await suspended.api.get('/v0/auth/me')).status).toBe(200)
    })
  })

  describe('401', () => {
    it.each([
      ['missing', undefined, 'Authorization header is missing'],
      ['of another scheme', 'Basic abc', 'Authorization scheme must be exactly "Bearer "'],
      ['of the scheme in small letters', 'bearer am_us_1', 'Authorization scheme must be exactly "Bearer "'],
      ['without a key', 'Bearer ', 'API key is empty'],
      ['with a blank inside the key', 'Bearer am_us 1', 'API key contains whitespace'],
    ])('has its own error for a header %s', async (_case, header, message) => {
      const { status, body } = await authorized(header)
      expect(status).toBe(401)
      expect(body).toMatchObject({ code: 'missing_authorization', name: 'UnauthorizedError', message })
    })

    it('refuses a session token', async () => {
      const { status, body } = await authorized('Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc')
      expect([status, body['code']]).toEqual([401, 'invalid_token_type'])
    })

    it.each([
      ['that never was', `am_us_${'0'.repeat(64)}`],
      ['of the older form', `am_${'0'.repeat(64)}`],
      ['without the prefix', 'sk_live_1'],
    ])('refuses a key %s', async (_case, key) => {
      const { status, body, headers } = await authorized(`Bearer ${key}`)
      expect([status, body['code']]).toEqual([401, 'unknown_api_key'])
      expect(headers.get('x-should-retry')).toBe('false')
    })

    it('names the other region for a key of it', async () => {
      const { body } = await authorized(`Bearer am_eu_${'0'.repeat(64)}`)
      expect(body).toMatchObject({ code: 'unknown_api_key', fix: expect.stringContaining('EU') })
      const configured = await gateway.another({ OTHER_REGION_URL: 'https://api.eu.restante.test' })
      const answer = await configured.as(`am_eu_${'0'.repeat(64)}`).get('/v0/auth/me')
      expect(answer.body['fix']).toContain('https://api.eu.restante.test')
    })

    it('ignores a key in the query, which would appear in logs', async () => {
      for (const name of ['api_key', 'auth_token']) {
        const { status, body } = await gateway.as().get(`/v0/auth/me?${name}=${organization.key}`)
        expect([status, body['code']]).toEqual([401, 'missing_authorization'])
      }
    })

    it('refuses a key that has expired', async () => {
      const { secret } = await gateway.operator.createKey({ organizationId: organization.id })
      await gateway.db.query(expire, secret.slice(0, 14))
      const { status, body } = await gateway.as(secret).get('/v0/auth/me')
      expect([status, body['code']]).toEqual([401, 'api_key_expired'])
    })

    it('refuses the id of a key', async () => {
      const { row } = await gateway.operator.createKey({ organizationId: organization.id })
      expect((await authorized(`Bearer ${row.id}`)).body['code']).toBe('unknown_api_key')
    })
  })
})
