import { startGateway, type TestGateway } from '../gateway.ts'

describe('GET /v0/organizations', () => {
  let gateway: TestGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  describe('200', () => {
    it('shows one organization, with what is set and nothing else', async () => {
      const { id, api } = await gateway.organization()
      await api.post('/v0/inboxes')
      const { status, body } = await api.get('/v0/organizations')
      expect(status).toBe(200)
      expect(body).toEqual({
        organization_id: id,
        inbox_count: 1,
        domain_count: 0,
        domain_limit: 100,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        updated_at: expect.any(String),
      })
    })

    it('shows a limit', async () => {
      const { api } = await gateway.organization({ inboxes: 3 })
      expect((await api.get('/v0/organizations')).body).toMatchObject({ inbox_limit: 3 })
    })

    it('answers a restricted key of the organization tier', async () => {
      const { id } = await gateway.organization()
      const { secret } = await gateway.operator.createKey({ organizationId: id, permissions: [] })
      expect((await gateway.as(secret).get('/v0/organizations')).status).toBe(200)
    })
  })

  describe('403', () => {
    it('refuses a pod key, which is of a narrower tier', async () => {
      const { id } = await gateway.organization()
      const { secret } = await gateway.operator.createKey({ organizationId: id, pod: id })
      const { status, body } = await gateway.as(secret).get('/v0/organizations')
      expect(status).toBe(403)
      expect(body).toMatchObject({
        name: 'ForbiddenError',
        code: 'missing_permission',
        message: 'Forbidden',
        fix: expect.stringContaining("'organization_read'"),
        docs: 'http://docs.test/errors#missing_permission',
      })
    })
  })
})
