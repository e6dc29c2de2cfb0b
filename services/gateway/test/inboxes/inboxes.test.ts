import { type Api, startGateway, type TestGateway } from '../gateway.ts'

describe('reading inboxes', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  async function keyWith(more: { inbox?: string; pod?: string; permissions?: string[] }): Promise<Api> {
    return gateway.as((await gateway.operator.createKey({ organizationId: organization.id, ...more })).secret)
  }

  const newPod = async () => String((await organization.api.post('/v0/pods')).body['pod_id'])

  describe('GET /v0/inboxes', () => {
    it('walks every inbox once, newest first', async () => {
      const { api } = await gateway.organization()
      const created: unknown[] = []
      for (let index = 0; index < 5; index++) created.unshift((await api.post('/v0/inboxes')).body['inbox_id'])
      const seen: unknown[] = []
      let token = ''
      do {
        const { body } = await api.get(`/v0/inboxes?limit=2${token && `&page_token=${encodeURIComponent(token)}`}`)
        if (Array.isArray(body['inboxes'])) seen.push(...body['inboxes'].map((inbox) => inbox.inbox_id))
        token = String(body['next_page_token'] ?? '')
      } while (token !== '')
      expect(seen).toEqual(created)
    })

    it('serves a limit above the cap with the cap', async () => {
      expect((await organization.api.get('/v0/inboxes?limit=5000')).body['limit']).toBe(100)
    })

    it('lists one inbox for an inbox key, and the pod for a pod path', async () => {
      const pod = await newPod()
      const { body } = await organization.api.post(`/v0/pods/${pod}/inboxes`)
      const inbox = await keyWith({ inbox: String(body['inbox_id']) })
      expect((await inbox.get('/v0/inboxes')).body).toMatchObject({
        count: 1,
        inboxes: [{ inbox_id: body['inbox_id'] }],
      })
      expect((await organization.api.get(`/v0/pods/${pod}/inboxes`)).body).toMatchObject({ count: 1 })
    })
  })

  describe('GET /v0/inboxes/{inbox_id}', () => {
    it('finds it by address in any case and encoding, and by client_id', async () => {
      const { body } = await organization.api.post('/v0/inboxes', { username: 'found', client_id: 'find-me' })
      for (const reference of ['found@restante.test', 'FOUND%40restante.test', 'find-me', 'find-me/']) {
        expect((await organization.api.get(`/v0/inboxes/${reference}`)).body).toEqual(body)
      }
    })

    it.each(['nobody@restante.test', 'no-client', 'found+tag@restante.test'])('404 for %s', async (reference) => {
      const { status, body } = await organization.api.get(`/v0/inboxes/${encodeURIComponent(reference)}`)
      expect([status, body['message'], body['name']]).toEqual([404, 'Inbox not found', 'NotFoundError'])
    })

    it('404 for an inbox of another pod, another inbox or another organization', async () => {
      const pod = await newPod()
      const { body } = await organization.api.post('/v0/inboxes', { username: 'hidden' })
      const sibling = await organization.api.post('/v0/inboxes')
      const path = `/v0/inboxes/${body['inbox_id']}`
      const others = [
        await keyWith({ pod }),
        await keyWith({ inbox: String(sibling.body['inbox_id']) }),
        (await gateway.organization()).api,
      ]
      for (const api of others) expect((await api.get(path)).status).toBe(404)
      expect((await organization.api.get(`/v0/pods/${pod}/inboxes/hidden@restante.test`)).status).toBe(404)
    })
  })
})
