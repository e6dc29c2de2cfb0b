import { randomUUID } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import { startGateway, type TestGateway } from './gateway.ts'

type Organization = Awaited<ReturnType<TestGateway['organization']>>

describe('inboxes', () => {
  let gateway: TestGateway
  let organization: Organization

  beforeAll(async () => {
    gateway = await startGateway({ RESERVED_USERNAMES: 'root', SHARED_DOMAINS: 'second.test' })
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  function keyWith(more: { inbox?: string; pod?: string; permissions?: string[] }) {
    return gateway.operator
      .createKey({ organizationId: organization.id, ...more })
      .then(({ secret }) => gateway.as(secret))
  }

  async function anotherPod(organizationId: string): Promise<string> {
    const { secret } = await gateway.operator.createKey({ organizationId })
    return String((await gateway.as(secret).post('/v0/pods')).body['pod_id'])
  }

  describe('POST /v0/inboxes', () => {
    describe('200', () => {
      it('makes an inbox out of nothing, without a body', async () => {
        const { status, body } = await organization.api.post('/v0/inboxes')
        expect(status).toBe(200)
        expect(body).toEqual({
          pod_id: organization.id,
          inbox_id: expect.stringMatching(/^[a-z]+\d{3}@restante\.test$/),
          email: body['inbox_id'],
          created_at: expect.any(String),
          updated_at: expect.any(String),
        })
      })

      it('takes every member, folded and trimmed', async () => {
        const { body } = await organization.api.post('/v0/inboxes', {
          username: 'Desk.One',
          domain: 'SECOND.test',
          display_name: '  Front desk ',
          client_id: 'desk-1',
          status: 'paused',
          metadata: { floor: 2, open: true, city: 'Basel' },
          unknown: 'ignored',
        })
        expect(body).toMatchObject({
          inbox_id: 'desk.one@second.test',
          display_name: 'Front desk',
          client_id: 'desk-1',
          status: 'paused',
          metadata: { floor: 2, open: true, city: 'Basel' },
        })
      })

      it('parses a body whatever its content type says', async () => {
        const { body } = await organization.api.post('/v0/inboxes', '{"username":"typeless"}', {
          'content-type': 'text/plain',
        })
        expect(body['inbox_id']).toBe('typeless@restante.test')
      })

      it('answers a known client_id with the inbox as it is, whatever else is said', async () => {
        const first = await organization.api.post('/v0/inboxes', { client_id: 'again', display_name: 'First' })
        const second = await organization.api.post('/v0/inboxes', {
          client_id: 'again',
          username: 'other',
          domain: 'no.where',
        })
        expect([second.status, second.body]).toEqual([200, first.body])
      })

      it('finds the inbox of a client_id in every pod that the request reaches', async () => {
        const pod = await anotherPod(organization.id)
        const made = await organization.api.post(`/v0/pods/${pod}/inboxes`, { client_id: 'in-a-pod' })
        const again = await organization.api.post('/v0/inboxes', { client_id: 'in-a-pod' })
        expect([again.status, again.body]).toEqual([200, made.body])
      })

      it('makes one inbox of 50 parallel creates with one client_id', async () => {
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => organization.api.post('/v0/inboxes', { client_id: 'crowd' })),
        )
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
        expect(new Set(answers.map(({ body }) => body['inbox_id'])).size).toBe(1)
      })

      it('creates in the pod of a pod key, and of a pod path', async () => {
        const pod = await anotherPod(organization.id)
        const own = await (await keyWith({ pod })).post('/v0/inboxes')
        const path = await organization.api.post(`/v0/pods/${pod}/inboxes`)
        expect([own.body['pod_id'], path.body['pod_id']]).toEqual([pod, pod])
      })

      it('tells of it in the same transaction', async () => {
        const { id, api } = await gateway.organization()
        const { body } = await api.post('/v0/inboxes', { username: 'told', client_id: 'told' })
        const events = await gateway.events(id)
        expect(events.at(-1)).toMatchObject({
          type: 'inbox.changed',
          payload: {
            address: 'told@restante.test',
            client_id: 'told',
            status: 'active',
            version: 1,
            pod_id: body['pod_id'],
          },
        })
      })
    })

    describe('400', () => {
      it.each([
        [{ username: 'with space' }, ['username']],
        [{ username: 'plus+tag' }, ['username']],
        [{ username: '.dot' }, ['username']],
        [{ username: 'a..b' }, ['username']],
        [{ username: 5 }, ['username']],
        [{ username: null }, ['username']],
        [{ client_id: 'a/b' }, ['client_id']],
        [{ client_id: '' }, ['client_id']],
        [{ display_name: 'two\nlines' }, ['display_name']],
        [{ status: 'sleeping' }, ['status']],
        [{ metadata: { nested: {} } }, ['metadata', 'nested']],
        [{ metadata: { empty: null } }, ['metadata', 'empty']],
      ])('refuses %j at its field', async (body, path) => {
        const answer = await organization.api.post('/v0/inboxes', body)
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ name: 'ValidationError', code: 'validation_error', errors: [{ path }] })
      })

      it.each(['{"username":', '[]', '"text"'])('calls %s a SyntaxError', async (text) => {
        const { status, body } = await organization.api.post('/v0/inboxes', text)
        expect(status).toBe(400)
        expect(body).toMatchObject({ name: 'SyntaxError', code: 'validation_error', errors: [{ path: [] }] })
      })
    })

    describe('403', () => {
      it.each(['postmaster', 'abuse', 'mailer-daemon', 'dmarc', 'root'])('keeps %s back', async (username) => {
        const { status, body } = await organization.api.post('/v0/inboxes', { username })
        expect([status, body['code'], body['name']]).toEqual([403, 'resource_taken', 'IsTakenError'])
      })

      it('tells whether the own organization or another holds the address', async () => {
        await organization.api.post('/v0/inboxes', { username: 'held' })
        const own = await organization.api.post('/v0/inboxes', { username: 'HELD' })
        expect([own.status, own.body['code']]).toEqual([403, 'already_exists'])
        const stranger = await gateway.organization()
        const other = await stranger.api.post('/v0/inboxes', { username: 'held' })
        expect([other.status, other.body['code']]).toEqual([403, 'resource_taken'])
      })

      it('gives an address to one of many organizations that ask at once', async () => {
        const organizations = await Promise.all(Array.from({ length: 5 }, () => gateway.organization()))
        const answers = await Promise.all(
          organizations.map(({ api }) => api.post('/v0/inboxes', { username: 'contested' })),
        )
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403])
      })

      it('holds the limit, however many are asked for at once', async () => {
        const { api } = await gateway.organization({ inboxes: 2 })
        const answers = await Promise.all(Array.from({ length: 6 }, () => api.post('/v0/inboxes')))
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(2)
        expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
          name: 'LimitExceededError',
          code: 'limit_exceeded',
          message: 'Inbox limit exceeded',
          resource: 'inbox',
          limit: 2,
        })
      })

      it('refuses an inbox key, which creates no inboxes', async () => {
        const { body } = await organization.api.post('/v0/inboxes')
        const inbox = await keyWith({ inbox: String(body['inbox_id']) })
        expect((await inbox.post('/v0/inboxes')).body['code']).toBe('missing_permission')
      })
    })

    describe('404', () => {
      it('does not know a domain that is not shared', async () => {
        const { status, body } = await organization.api.post('/v0/inboxes', { domain: 'else.where' })
        expect([status, body['message']]).toEqual([404, 'Domain not found'])
      })

      it('checks the pod of the path before the body', async () => {
        const { status, body } = await organization.api.post(`/v0/pods/${randomUUID()}/inboxes`, { username: '..' })
        expect([status, body['message']]).toEqual([404, 'Pod not found'])
      })
    })

    describe('409', () => {
      it('does not reveal an inbox of the same client_id in another pod', async () => {
        await organization.api.post('/v0/inboxes', { client_id: 'elsewhere' })
        const pod = await anotherPod(organization.id)
        const { status, body } = await organization.api.post(`/v0/pods/${pod}/inboxes`, { client_id: 'elsewhere' })
        expect([status, body['code']]).toEqual([409, 'conflict'])
        expect(JSON.stringify(body)).not.toContain('restante.test')
        const sibling = await (await keyWith({ pod })).post('/v0/inboxes', { client_id: 'elsewhere' })
        expect([sibling.status, sibling.body['code']]).toEqual([409, 'conflict'])
      })
    })
  })

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
      const pod = await anotherPod(organization.id)
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
      const pod = await anotherPod(organization.id)
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

  describe('PATCH /v0/inboxes/{inbox_id}', () => {
    it('replaces the name, and removes it with an empty one', async () => {
      await organization.api.post('/v0/inboxes', { username: 'named', display_name: 'One' })
      const renamed = await organization.api.patch('/v0/inboxes/named@restante.test', { display_name: 'Two' })
      expect(renamed.body['display_name']).toBe('Two')
      const removed = await organization.api.patch('/v0/inboxes/named@restante.test', { display_name: '' })
      expect(removed.body).not.toHaveProperty('display_name')
    })

    it('pauses and resumes; saying the same again changes nothing', async () => {
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

    it('400 without a member, for an empty metadata object, and for one key too many', async () => {
      const keys = Object.fromEntries(Array.from({ length: 256 }, (_, index) => [`k${index}`, index]))
      await organization.api.post('/v0/inboxes', { username: 'full', metadata: keys })
      const path = '/v0/inboxes/full@restante.test'
      for (const body of [{}, { username: 'immutable' }, { metadata: {} }, { metadata: { more: 1 } }]) {
        expect((await organization.api.patch(path, body)).status).toBe(400)
      }
    })
  })

  describe('DELETE /v0/inboxes/{inbox_id}', () => {
    it('204, and everything that names it is dead', async () => {
      const { id, api } = await gateway.organization({ inboxes: 1 })
      await api.post('/v0/inboxes', { username: 'leaving', client_id: 'leaving' })
      const bound = await gateway.operator.createKey({ organizationId: id, inbox: 'leaving@restante.test' })
      const inboxKey = gateway.as(bound.secret)
      expect((await inboxKey.get('/v0/auth/me')).status).toBe(200)

      expect(await api.delete('/v0/inboxes/leaving@restante.test')).toMatchObject({ status: 204, body: {} })

      expect((await api.get('/v0/inboxes/leaving@restante.test')).status).toBe(404)
      expect((await api.delete('/v0/inboxes/leaving@restante.test')).status).toBe(404)
      expect((await inboxKey.get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
      expect((await api.get('/v0/organizations')).body['inbox_count']).toBe(0)
      const events = await gateway.events(id)
      expect(events.slice(-2).map(({ type }) => type)).toEqual(['credential.deleted', 'inbox.deleted'])
      expect(events.at(-1)?.payload).toMatchObject({ address: 'leaving@restante.test', version: 2 })
    })

    it('frees alias and address for the own organization, and keeps the address from others', async () => {
      const first = await organization.api.post('/v0/inboxes', { username: 'retired', client_id: 'retired' })
      await organization.api.delete('/v0/inboxes/retired')
      const stranger = await gateway.organization()
      expect((await stranger.api.post('/v0/inboxes', { username: 'retired' })).body['code']).toBe('resource_taken')
      const createAgain = () => organization.api.post('/v0/inboxes', { username: 'retired', client_id: 'retired' })
      const again = await waitFor(
        async () => {
          const answer = await createAgain()
          return answer.status === 200 && answer
        },
        { what: 'the address to be purged' },
      )
      expect(again.body['created_at']).not.toBe(first.body['created_at'])
    })
  })
})
