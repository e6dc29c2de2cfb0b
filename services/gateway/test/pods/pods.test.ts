import { sql } from '@restante/service/database'
import { type Answer, startGateway, type TestGateway } from '../gateway.ts'

const sameMoment = sql<never, [organizationId: string]>(
  "update pods set created_at = '2026-01-01T00:00:00Z' where organization_id = $1",
)

function idsOf({ body: { pods } }: Answer): unknown[] {
  return Array.isArray(pods) ? pods.map(({ pod_id }) => pod_id) : []
}

describe('pods', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let second: string

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    second = String((await organization.api.post('/v0/pods', { name: 'Second', client_id: 'second' })).body['pod_id'])
  })
  afterAll(() => gateway.stop())

  describe('GET /v0/pods', () => {
    describe('200', () => {
      it('lists newest first', async () => {
        const { status, body } = await organization.api.get('/v0/pods')
        expect(status).toBe(200)
        expect(body).toMatchObject({ count: 2, pods: [{ pod_id: second }, { pod_id: organization.id }] })
        expect(body).not.toHaveProperty('limit')
        expect(body).not.toHaveProperty('next_page_token')
      })

      it('reverses the order with ascending', async () => {
        const { body } = await organization.api.get('/v0/pods?ascending=true')
        expect(body).toMatchObject({ pods: [{ pod_id: organization.id, name: 'Default Pod' }, { pod_id: second }] })
      })

      it('walks through pages and echoes the limit', async () => {
        const first = await organization.api.get('/v0/pods?limit=1')
        expect(first.body).toMatchObject({ count: 1, limit: 1, pods: [{ pod_id: second }] })
        const token = encodeURIComponent(String(first.body['next_page_token']))
        const next = await organization.api.get(`/v0/pods?limit=1&page_token=${token}`)
        expect(next.body).toMatchObject({ count: 1, pods: [{ pod_id: organization.id }] })
        expect(next.body).not.toHaveProperty('next_page_token')
      })

      it('walks through pods with equal creation time, each once, even when the limit changes between pages', async () => {
        const { id, api } = await gateway.organization()
        for (let index = 0; index < 6; index++) await api.post('/v0/pods')
        await gateway.db.query(sameMoment, id)
        for (const order of ['', '&ascending=true']) {
          const whole = idsOf(await api.get(`/v0/pods?limit=100${order}`))
          expect(new Set(whole).size).toBe(7)
          const walked: unknown[] = []
          let next = ''
          for (const limit of [1, 3, 2, 100]) {
            const answer = await api.get(`/v0/pods?limit=${limit}${order}${next}`)
            walked.push(...idsOf(answer))
            next = `&page_token=${answer.body['next_page_token']}`
          }
          expect(walked).toEqual(whole)
        }
      })

      it('shows a pod key its own pod only', async () => {
        const { secret } = await gateway.operator.createKey({ organizationId: organization.id, pod: second })
        expect((await gateway.as(secret).get('/v0/pods')).body).toMatchObject({ count: 1, pods: [{ pod_id: second }] })
      })
    })

    describe('400', () => {
      it.each(['0', '-1', 'x', '1.5'])('refuses limit=%s', async (limit) => {
        const { status, body } = await organization.api.get(`/v0/pods?limit=${limit}`)
        expect(status).toBe(400)
        expect(body).toMatchObject({ code: 'validation_error', errors: [{ path: ['limit'] }] })
      })

      it('refuses a token of another direction, and one that is forged', async () => {
        const first = await organization.api.get('/v0/pods?limit=1')
        const token = encodeURIComponent(String(first.body['next_page_token']))
        const turned = await organization.api.get(`/v0/pods?limit=1&ascending=true&page_token=${token}`)
        expect(turned.body).toMatchObject({ errors: [{ path: ['page_token'] }] })
        expect((await organization.api.get('/v0/pods?page_token=abc')).status).toBe(400)
        expect((await organization.api.get('/v0/pods?page_token=')).status).toBe(400)
      })
    })

    describe('403', () => {
      it('refuses an inbox key', async () => {
        const inbox = await organization.api.post('/v0/inboxes')
        const bound = { organizationId: organization.id, inbox: String(inbox.body['inbox_id']) }
        const { secret } = await gateway.operator.createKey(bound)
        expect((await gateway.as(secret).get('/v0/pods')).body['code']).toBe('forbidden')
      })

      it('refuses a key without pod_read', async () => {
        const bound = { organizationId: organization.id, permissions: ['inbox_read'] }
        const { secret } = await gateway.operator.createKey(bound)
        const { body } = await gateway.as(secret).get('/v0/pods')
        expect(body).toMatchObject({ code: 'missing_permission', fix: expect.stringContaining("'pod_read'") })
      })
    })
  })

  describe('GET /v0/pods/{pod_id}', () => {
    describe('200', () => {
      it.each(['id', 'client_id'])('finds a pod by %s', async (by) => {
        const { status, body } = await organization.api.get(`/v0/pods/${by === 'id' ? second : 'second'}`)
        expect(status).toBe(200)
        expect(body).toMatchObject({ pod_id: second, name: 'Second', client_id: 'second' })
      })

      it('prefers the pod with that id over one with it as client_id', async () => {
        const { id, api } = await gateway.organization()
        await api.post('/v0/pods', { client_id: id })
        expect((await api.get(`/v0/pods/${id}`)).body).toMatchObject({ pod_id: id, name: 'Default Pod' })
      })
    })

    describe('404', () => {
      it.each(['nowhere', '3f0c3f5e-0000-4000-8000-000000000000'])('does not know %s', async (reference) => {
        const { status, body } = await organization.api.get(`/v0/pods/${reference}`)
        expect([status, body['message']]).toEqual([404, 'Pod not found'])
      })

      it('hides other pods from a pod key, and other organizations from everyone', async () => {
        const { secret } = await gateway.operator.createKey({ organizationId: organization.id, pod: second })
        expect((await gateway.as(secret).get(`/v0/pods/${organization.id}`)).status).toBe(404)
        const stranger = await gateway.organization()
        expect((await stranger.api.get(`/v0/pods/${second}`)).status).toBe(404)
      })
    })
  })
})
