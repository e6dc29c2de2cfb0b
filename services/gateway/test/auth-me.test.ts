import { startGateway, type TestGateway } from './gateway.ts'

describe('GET /v0/auth/me', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

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
      expect(headers.get('x-request-id')).toEqual(expect.any(String))
    })
  })
})
