import { startGateway, type TestGateway } from '../gateway.ts'

describe('changing inboxes', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway()
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  describe('PATCH /v0/inboxes/{inbox_id}', () => {
    it('replaces the name, and removes it with an empty one', async () => {
      await organization.api.post('/v0/inboxes', { username: 'named', display_name: 'One' })
      const renamed = await organization.api.patch('/v0/inboxes/named@restante.test', { display_name: 'Two' })
      expect(renamed.body['display_name']).toBe('Two')
      const removed = await organization.api.patch('/v0/inboxes/named@restante.test', { display_name: '' })
      expect(removed.body).not.toHaveProperty('display_name')
    })

    it('pauses and resumes; a repetition changes nothing', async () => {
      const { body } = await organization.api.post('/v0/inboxes', { username: 'pausing' })
      const paused = await organization.api.patch('/v0/inboxes/pausing@restante.test', { status: 'paused' })
      expect(paused.body['status']).toBe('paused')
      const again = await organization.api.patch('/v0/inboxes/pausing@restante.test', { status: 'paused' })
      expect(again.body).toEqual(paused.body)
      const resumed = await organization.api.patch('/v0/inboxes/pausing@restante.test', { status: 'active' })
      expect(resumed.body).not.toHaveProperty('status')
      const events = await gateway.events(organization.id)
      const states = events.filter(({ payload }) => payload['address'] === body['inbox_id'])
      expect(states.map(({ payload }) => [payload['version'], payload['status']])).toEqual([
        [1, 'active'],
        [2, 'paused'],
        [3, 'active'],
      ])
    })

    it('merges metadata; parallel updates of different keys all survive', async () => {
      await organization.api.post('/v0/inboxes', { username: 'merging', metadata: { gone: 'x', kept: 'y' } })
      const path = '/v0/inboxes/merging@restante.test'
      await Promise.all([
        organization.api.patch(path, { metadata: { gone: null, absent: null } }),
        ...[1, 2, 3, 4, 5].map((index) => organization.api.patch(path, { metadata: { [`key${index}`]: index } })),
      ])
      expect((await organization.api.get(path)).body['metadata']).toEqual({
        kept: 'y',
        key1: 1,
        key2: 2,
        key3: 3,
        key4: 4,
        key5: 5,
      })
      const cleared = await organization.api.patch(path, { metadata: null })
      expect(cleared.body).not.toHaveProperty('metadata')
    })

    it('replaces all metadata at once, however many keys go', async () => {
      const keys = (name: string, value: unknown) =>
        Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`${name}${index}`, value]))
      await organization.api.post('/v0/inboxes', { username: 'replaced', metadata: keys('old', 1) })
      const path = '/v0/inboxes/replaced@restante.test'
      const { status, body } = await organization.api.patch(path, {
        metadata: { ...keys('old', null), ...keys('new', 2) },
      })
      expect([status, body['metadata']]).toEqual([200, keys('new', 2)])
    })

    it('changes updated_at, and publishes an event, only with a real change', async () => {
      const { id, api } = await gateway.organization()
      const given = { username: 'unmoved', display_name: 'Same', metadata: { a: 1, b: true } }
      const made = await api.post('/v0/inboxes', given)
      const path = '/v0/inboxes/unmoved@restante.test'
      const before = await gateway.events(id)
      for (const body of [
        { display_name: ' Same ' },
        { status: 'active' },
        { metadata: { a: 1, absent: null } },
        { display_name: 'Same', username: 'other', client_id: 'other', pod_id: 'other', domain: 'other.test' },
      ]) {
        expect((await api.patch(path, body)).body).toEqual(made.body)
      }
      expect(await gateway.events(id)).toEqual(before)
      const changed = await api.patch(path, { metadata: { b: false } })
      expect(Date.parse(String(changed.body['updated_at']))).toBeGreaterThan(
        Date.parse(String(made.body['updated_at'])),
      )
    })

    it('is done by client_id, through the pod, and by the key of the inbox', async () => {
      const { body } = await organization.api.post('/v0/inboxes', { client_id: 'by-alias' })
      const own = await gateway.operator.createKey({ organizationId: organization.id, inbox: String(body['inbox_id']) })
      const [api, podPath] = [gateway.as(own.secret), `/v0/pods/${organization.id}/inboxes/by-alias`]
      expect((await organization.api.patch(podPath, { display_name: 'Pod' })).body['display_name']).toBe('Pod')
      expect((await api.patch('/v0/inboxes/by-alias', { display_name: 'Own' })).body['display_name']).toBe('Own')
    })

    it('403 without inbox_update; 404 out of reach', async () => {
      const { body } = await organization.api.post('/v0/inboxes')
      const path = `/v0/inboxes/${body['inbox_id']}`
      const reader = await gateway.operator.createKey({ organizationId: organization.id, permissions: ['inbox_read'] })
      expect((await gateway.as(reader.secret).patch(path, { status: 'paused' })).body['code']).toBe(
        'missing_permission',
      )
      const stranger = await gateway.organization()
      expect((await stranger.api.patch(path, { status: 'paused' })).status).toBe(404)
    })

    it.each([
      [{ display_name: 'a\u0000b' }, ['display_name']],
      [{ status: 'suspended' }, ['status']],
      [{ metadata: { list: [] } }, ['metadata', 'list']],
      [{ metadata: { '': 1 } }, ['metadata', '']],
    ])('400 for %j at its field', async (body, path) => {
      const made = await organization.api.post('/v0/inboxes')
      const answer = await organization.api.patch(`/v0/inboxes/${made.body['inbox_id']}`, body)
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    })

    it('400 without a member, for an empty metadata object, and for one key too many', async () => {
      const keys = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`k${index}`, index]))
      await organization.api.post('/v0/inboxes', { username: 'full', metadata: keys })
      const path = '/v0/inboxes/full@restante.test'
      for (const body of [
        {},
        { username: 'immutable' },
        { status: null },
        { metadata: {} },
        { metadata: { more: 1 } },
      ]) {
        expect((await organization.api.patch(path, body)).status).toBe(400)
      }
    })
  })
})
