import { randomUUID } from 'node:crypto'
import { type Answer, type Api, startGateway, type TestGateway } from '../gateway.ts'

const UUID = /^[0-9a-f-]{36}$/

describe('changing pods', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>
  let api: Api

  beforeAll(async () => {
    gateway = await startGateway({ POD_LIMIT: '20' })
    organization = await gateway.organization()
    api = organization.api
  })
  afterAll(() => gateway.stop())

  const idOf = ({ body }: Answer) => String(body['pod_id'])
  const newPod = async (body: object = {}) => idOf(await api.post('/v0/pods', body))

  async function keyWith(more: { inbox?: string; pod?: string; permissions?: string[] }): Promise<Api> {
    return gateway.as((await gateway.operator.createKey({ organizationId: organization.id, ...more })).secret)
  }

  describe('POST /v0/pods', () => {
    describe('200', () => {
      it.each([undefined, {}])('creates a pod from %j', async (body) => {
        const made = await api.post('/v0/pods', body)
        expect(made).toMatchObject({ status: 200, body: { name: 'My Pod', pod_id: expect.stringMatching(UUID) } })
        expect(Object.keys(made.body).sort()).toEqual(['created_at', 'name', 'pod_id', 'updated_at'])
        expect((await api.get(`/v0/pods/${idOf(made)}`)).body).toEqual(made.body)
      })

      it('takes a name, trimmed and not unique, and an alias', async () => {
        const one = await api.post('/v0/pods', { name: '  Sales ', client_id: 'sales' })
        const two = await api.post('/v0/pods', { name: 'Sales' })
        expect(one.body).toMatchObject({ name: 'Sales', client_id: 'sales' })
        expect(two.body['pod_id']).not.toBe(one.body['pod_id'])
      })

      it('takes the last of two members of one name', async () => {
        expect((await api.post('/v0/pods', '{"name":"first","name":"last"}')).body['name']).toBe('last')
      })

      it('answers a known client_id with the pod as it is now, without an event', async () => {
        const first = await api.post('/v0/pods', { client_id: 'known', name: 'First' })
        const renamed = await api.patch('/v0/pods/known', { name: 'Renamed' })
        const events = (await gateway.events(organization.id)).length
        const again = await api.post('/v0/pods', { client_id: 'known', name: 'Ignored' })
        expect([again.status, again.body]).toEqual([200, renamed.body])
        expect(idOf(again)).toBe(idOf(first))
        expect(await gateway.events(organization.id)).toHaveLength(events)
      })

      it('makes one pod of 50 parallel creates with one client_id', async () => {
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => api.post('/v0/pods', { client_id: 'crowd' })),
        )
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
        expect(new Set(answers.map(idOf)).size).toBe(1)
      })

      it('creates one pod for concurrent requests to two processes', async () => {
        const other = (await gateway.another()).as(organization.key)
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => [api, other].map((to) => to.post('/v0/pods', { client_id: 'both' }))).flat(),
        )
        expect(new Set(answers.map(idOf)).size).toBe(1)
      })

      it('lets each organization have the same client_id', async () => {
        const stranger = await gateway.organization()
        const own = await newPod({ client_id: 'shared-word' })
        expect(idOf(await stranger.api.post('/v0/pods', { client_id: 'shared-word' }))).not.toBe(own)
      })

      it('publishes the event in the same transaction', async () => {
        const pod = await newPod({ name: 'Told', client_id: 'told' })
        expect((await gateway.events(organization.id)).at(-1)).toMatchObject({
          type: 'pod.changed',
          payload: { pod_id: pod, name: 'Told', client_id: 'told', version: 1 },
        })
      })
    })

    describe('400', () => {
      it.each([
        [{ name: '' }, 'name'],
        [{ name: '   ' }, 'name'],
        [{ name: 'x'.repeat(257) }, 'name'],
        [{ name: 'two\nlines' }, 'name'],
        [{ name: 7 }, 'name'],
        [{ client_id: 'a b' }, 'client_id'],
        [{ client_id: 'a@b' }, 'client_id'],
        [{ client_id: '' }, 'client_id'],
        [{ client_id: 'x'.repeat(257) }, 'client_id'],
      ])('refuses %j at its field', async (body, field) => {
        const answer = await api.post('/v0/pods', body)
        expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error', errors: [{ path: [field] }] } })
      })

      it('checks the form of the other members of a request with a known client_id as well', async () => {
        await newPod({ client_id: 'formed' })
        expect((await api.post('/v0/pods', { client_id: 'formed', name: 7 })).status).toBe(400)
      })
    })

    describe('403', () => {
      it("enforces the installation's limit for concurrent requests", async () => {
        const { api } = await gateway.organization()
        const answers = await Promise.all(Array.from({ length: 25 }, () => api.post('/v0/pods')))
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(19)
        expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
          code: 'limit_exceeded',
          message: 'Pod limit exceeded',
          resource: 'pod',
          limit: 20,
        })
      })

      it('is denied to an unverified agent, and explains how to verify', async () => {
        const { body } = await gateway.as().post('/v0/agent/sign-up', { username: 'pods-agent' })
        const answer = await gateway.as(String(body['api_key'])).post('/v0/pods')
        expect(answer).toMatchObject({
          status: 403,
          body: { code: 'missing_permission', fix: expect.stringContaining('/v0/agent/verify') },
        })
      })

      it('is denied to a pod key, whatever it holds', async () => {
        const { body } = await (await keyWith({ pod: await newPod() })).post('/v0/pods')
        expect(body).toMatchObject({ code: 'missing_permission', fix: expect.stringContaining('organization') })
      })
    })
  })

  describe('PATCH /v0/pods/{pod_id}', () => {
    describe('200', () => {
      it.each(['id', 'client_id'])('renames by %s', async (by) => {
        const pod = await newPod({ client_id: `rename-by-${by}` })
        const path = `/v0/pods/${by === 'id' ? pod : `rename-by-${by}`}`
        const { status, body } = await api.patch(path, { name: ' New ', client_id: 'ignored' })
        expect([status, body['name'], body['client_id']]).toEqual([200, 'New', `rename-by-${by}`])
        expect((await gateway.events(organization.id)).at(-1)).toMatchObject({
          type: 'pod.changed',
          payload: { pod_id: pod, name: 'New', version: 2 },
        })
      })

      it('renames the default pod', async () => {
        const { api, id } = await gateway.organization()
        expect((await api.patch(`/v0/pods/${id}`, { name: 'Home' })).body).toMatchObject({ pod_id: id, name: 'Home' })
      })

      it('changes nothing when the name is the same', async () => {
        const made = await api.post('/v0/pods', { name: 'Same' })
        expect((await api.patch(`/v0/pods/${idOf(made)}`, { name: 'Same' })).body).toEqual(made.body)
      })

      it('is open to the key of the pod', async () => {
        const pod = await newPod()
        const { body } = await (await keyWith({ pod })).patch(`/v0/pods/${pod}`, { name: 'Mine' })
        expect(body['name']).toBe('Mine')
      })
    })

    it.each([{}, { name: '' }, { name: null }, { name: 'x'.repeat(257) }])('400 for %j', async (body) => {
      const answer = await api.patch(`/v0/pods/${organization.id}`, body)
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: ['name'] }] } })
    })

    it("404 for an unknown pod, one of another organization, and one outside of the key's scope", async () => {
      const stranger = await gateway.organization()
      const sibling = await keyWith({ pod: await newPod() })
      for (const [who, pod] of [
        [api, randomUUID()],
        [api, stranger.id],
        [sibling, organization.id],
      ] as const) {
        const { status, body } = await who.patch(`/v0/pods/${pod}`, { name: 'Stolen' })
        expect([status, body['message']]).toEqual([404, 'Pod not found'])
      }
    })
  })
})
