import { randomUUID } from 'node:crypto'
import { type Answer, type Api, startGateway, type TestGateway } from '../gateway.ts'

describe('DELETE /v0/pods/{pod_id}', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let api: Api

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
    api = organization.api
  })
  afterAll(() => gateway.stop())

  const idOf = ({ body }: Answer) => String(body['pod_id'])
  const newPod = async (body: object = {}) => idOf(await api.post('/v0/pods', body))

  async function keyOf(pod: string) {
    const { row, secret } = await gateway.operator.createKey({ organizationId: organization.id, pod })
    return { id: row.id, api: gateway.as(secret), secret }
  }

  describe('204', () => {
    it('and every path that names the pod is 404, and its keys are invalid', async () => {
      const pod = await newPod({ client_id: 'leaving' })
      const keys = [await keyOf(pod), await keyOf(pod)]
      const deleted = await api.delete('/v0/pods/leaving')
      expect([deleted.status, deleted.body]).toEqual([204, {}])
      for (const path of ['', '/inboxes', '/api-keys']) {
        for (const name of [pod, 'leaving']) {
          expect((await api.get(`/v0/pods/${name}${path}`)).body['message']).toBe('Pod not found')
        }
      }
      for (const key of keys) {
        expect((await key.api.get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
        expect((await api.get(`/v0/api-keys/${key.id}`)).status).toBe(404)
      }
      expect((await api.delete(`/v0/pods/${pod}`)).status).toBe(404)
      expect(JSON.stringify((await api.get('/v0/pods')).body)).not.toContain(pod)
    })

    it('publishes the deletion of the keys and of the pod, with a version above the last one', async () => {
      const pod = await newPod()
      await api.patch(`/v0/pods/${pod}`, { name: 'Second version' })
      const key = await keyOf(pod)
      await api.delete(`/v0/pods/${pod}`)
      expect((await gateway.events(organization.id)).slice(-2)).toMatchObject([
        { type: 'credential.deleted', payload: { credential_id: key.id } },
        { type: 'pod.deleted', subject: pod, payload: { organization_id: organization.id, pod_id: pod, version: 3 } },
      ])
    })

    it('leaves the keys of the organization and of other pods alone', async () => {
      const [kept, leaving] = [await newPod(), await newPod()]
      const key = await keyOf(kept)
      await api.delete(`/v0/pods/${leaving}`)
      expect((await key.api.get('/v0/auth/me')).body['pod_id']).toBe(kept)
    })

    it('once its inboxes are deleted, whether they are purged yet or not', async () => {
      const pod = await newPod()
      const { body } = await api.post(`/v0/pods/${pod}/inboxes`)
      await api.delete(`/v0/inboxes/${body['inbox_id']}`)
      expect((await api.delete(`/v0/pods/${pod}`)).status).toBe(204)
    })

    it('frees the alias at once', async () => {
      const first = await newPod({ client_id: 'again' })
      await api.delete('/v0/pods/again')
      const second = await newPod({ client_id: 'again' })
      expect(second).not.toBe(first)
      expect(idOf(await api.get('/v0/pods/again'))).toBe(second)
    })

    it('asked for by the key of the pod, which ends with it', async () => {
      const pod = await newPod()
      const key = await keyOf(pod)
      expect((await key.api.delete(`/v0/pods/${pod}`)).status).toBe(204)
      expect((await key.api.get('/v0/auth/me')).status).toBe(401)
    })
  })

  describe('403', () => {
    it('is denied to a key without pod_delete', async () => {
      const bound = { organizationId: organization.id, permissions: ['pod_read', 'pod_update'] }
      const { secret } = await gateway.operator.createKey(bound)
      expect((await gateway.as(secret).delete(`/v0/pods/${await newPod()}`)).body['code']).toBe('missing_permission')
    })
  })

  describe('404', () => {
    it("for an unknown pod, one of another organization, and one outside of the key's scope", async () => {
      const stranger = await gateway.organization()
      const foreign = idOf(await stranger.api.post('/v0/pods'))
      const sibling = await keyOf(await newPod())
      expect((await api.delete(`/v0/pods/${randomUUID()}`)).status).toBe(404)
      expect((await api.delete(`/v0/pods/${foreign}`)).status).toBe(404)
      expect((await sibling.api.delete(`/v0/pods/${await newPod()}`)).status).toBe(404)
    })
  })

  describe('409', () => {
    it('for the default pod', async () => {
      const { status, body } = await api.delete(`/v0/pods/${organization.id}`)
      expect([status, body['code'], body['name']]).toEqual([409, 'cannot_delete', 'CannotDeleteError'])
    })

    it('for a pod that holds inboxes, and says how many', async () => {
      const pod = await newPod()
      await api.post(`/v0/pods/${pod}/inboxes`)
      expect((await api.delete(`/v0/pods/${pod}`)).body['message']).toBe('The pod still holds 1 inbox')
      await api.post(`/v0/pods/${pod}/inboxes`)
      const key = await keyOf(pod)
      const { status, body } = await api.delete(`/v0/pods/${pod}`)
      expect([status, body['code'], body['message']]).toEqual([409, 'cannot_delete', 'The pod still holds 2 inboxes'])
      expect((await key.api.get('/v0/inboxes')).body['count']).toBe(2)
    })
  })

  describe('while something is created in the pod', () => {
    it.each(['inboxes', 'api-keys'])('leaves no orphaned %s, whichever request wins', async (what) => {
      for (let round = 0; round < 10; round++) {
        const pod = await newPod()
        const [made, deleted] = await Promise.all([
          api.post(`/v0/pods/${pod}/${what}`, {}),
          api.delete(`/v0/pods/${pod}`),
        ])
        if (deleted.status === 409) {
          expect([what, made.status]).toEqual(['inboxes', 200])
          continue
        }
        expect(deleted.status).toBe(204)
        const podId = pod
        expect(await gateway.db.orm.inbox.count({ where: { podId } })).toBe(0)
        expect(await gateway.db.orm.credential.count({ where: { podId } })).toBe(0)
        if (made.status !== 200) expect(made.body['message']).toBe('Pod not found')
      }
    })

    it('refuses a pod key that another process still has cached', async () => {
      const pod = await newPod()
      const { secret } = await keyOf(pod)
      const other = (await gateway.another()).as(secret)
      // From here on it caches the key for a second.
      expect((await other.get('/v0/auth/me')).status).toBe(200)
      await api.delete(`/v0/pods/${pod}`)
      for (const path of ['/v0/auth/me', '/v0/inboxes', '/v0/pods', '/v0/api-keys', '/v0/webhooks', '/v0/threads']) {
        expect([path, (await other.get(path)).body['code']]).toEqual([path, 'unknown_api_key'])
      }
      for (const path of ['/v0/inboxes', '/v0/api-keys']) {
        expect((await other.post(path, {})).body['code']).toBe('unknown_api_key')
      }
      expect((await other.get(`/v0/pods/${pod}`)).status).not.toBe(200)
      expect(await gateway.db.orm.inbox.count({ where: { podId: pod } })).toBe(0)
    })
  })
})
