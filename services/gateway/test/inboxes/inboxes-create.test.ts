import { randomUUID } from 'node:crypto'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'

describe('creating inboxes', () => {
  let gateway: TestGateway
  let organization: Awaited<ReturnType<TestGateway['organization']>>

  beforeAll(async () => {
    gateway = await startGateway({
      RESERVED_USERNAMES: 'Front-Desk',
      FREE_USERNAMES: 'noc',
      SHARED_DOMAINS: 'second.test',
    })
    organization = await gateway.organization()
  })
  afterAll(() => gateway.stop())

  async function keyWith(more: { inbox?: string; pod?: string; permissions?: string[] }): Promise<Api> {
    return gateway.as((await gateway.operator.createKey({ organizationId: organization.id, ...more })).secret)
  }

  const newPod = async () => String((await organization.api.post('/v0/pods')).body['pod_id'])

  describe('POST /v0/inboxes', () => {
    describe('200', () => {
      it('creates an inbox without a body', async () => {
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

      it('parses a body regardless of its content type', async () => {
        const { body } = await organization.api.post('/v0/inboxes', '{"username":"typeless"}', {
          'content-type': 'text/plain',
        })
        expect(body['inbox_id']).toBe('typeless@restante.test')
      })

      it('answers a known client_id with the existing inbox, whatever else is given', async () => {
        const first = await organization.api.post('/v0/inboxes', { client_id: 'again', display_name: 'First' })
        const second = await organization.api.post('/v0/inboxes', {
          client_id: 'again',
          username: 'other',
          domain: 'no.where',
        })
        expect([second.status, second.body]).toEqual([200, first.body])
      })

      it('finds the inbox of a client_id in every pod that the request reaches', async () => {
        const pod = await newPod()
        const made = await organization.api.post(`/v0/pods/${pod}/inboxes`, { client_id: 'in-a-pod' })
        const again = await organization.api.post('/v0/inboxes', { client_id: 'in-a-pod' })
        expect([again.status, again.body]).toEqual([200, made.body])
      })

      it('creates one inbox for 50 parallel requests with one client_id', async () => {
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => organization.api.post('/v0/inboxes', { client_id: 'crowd' })),
        )
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
        expect(new Set(answers.map(({ body }) => body['inbox_id'])).size).toBe(1)
      })

      it('creates in the pod of a pod key, and of a pod path', async () => {
        const pod = await newPod()
        const own = await (await keyWith({ pod })).post('/v0/inboxes')
        const path = await organization.api.post(`/v0/pods/${pod}/inboxes`)
        expect([own.body['pod_id'], path.body['pod_id']]).toEqual([pod, pod])
      })

      it('reads from the new inbox at once, by every name', async () => {
        const { body } = await organization.api.post('/v0/inboxes', { client_id: 'at-once' })
        for (const name of [body['inbox_id'], 'at-once']) {
          expect((await organization.api.get(`/v0/inboxes/${name}`)).body).toEqual(body)
        }
      })

      it("gives an inbox without a name the installation's default, unless an empty name is given", async () => {
        const { as } = await gateway.another({ DEFAULT_DISPLAY_NAME: 'Robot of Example' })
        const api = as(organization.key)
        expect((await api.post('/v0/inboxes')).body['display_name']).toBe('Robot of Example')
        expect((await api.post('/v0/inboxes', { display_name: 'Own' })).body['display_name']).toBe('Own')
        expect((await api.post('/v0/inboxes', { display_name: '' })).body).not.toHaveProperty('display_name')
      })

      it('treats null name and metadata as absent', async () => {
        const { body } = await organization.api.post('/v0/inboxes', { display_name: '  ', metadata: {} })
        expect(Object.keys(body).sort()).toEqual(['created_at', 'email', 'inbox_id', 'pod_id', 'updated_at'])
      })

      it('accepts a username of 64 characters, and metadata up to its limits', async () => {
        const username = `a${'.b'.repeat(31)}c`
        const metadata = Object.fromEntries(
          Array.from({ length: 256 }, (_, index) => [`${index}`.padStart(256, 'k'), 'v'.repeat(256)]),
        )
        const { status, body } = await organization.api.post('/v0/inboxes', { username, metadata })
        expect([status, body['inbox_id'], body['metadata']]).toEqual([200, `${username}@restante.test`, metadata])
      })

      it('generates a username for a domain without one', async () => {
        const { body } = await organization.api.post('/v0/inboxes', { domain: 'second.test' })
        expect(body['inbox_id']).toMatch(/^[a-z]+\d{3}@second\.test$/)
      })

      it('publishes the event in the same transaction', async () => {
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
        [{ client_id: 'a/b' }, ['client_id']],
        [{ client_id: '' }, ['client_id']],
        [{ display_name: 'two\nlines' }, ['display_name']],
        [{ username: '' }, ['username']],
        [{ username: 'dot.' }, ['username']],
        [{ username: 'at@sign' }, ['username']],
        [{ username: 'a'.repeat(65) }, ['username']],
        [{ client_id: 'a@b' }, ['client_id']],
        [{ client_id: 'a'.repeat(257) }, ['client_id']],
        [{ domain: '' }, ['domain']],
        [{ display_name: 'x'.repeat(257) }, ['display_name']],
        [{ status: 'sleeping' }, ['status']],
        [{ metadata: [] }, ['metadata']],
        [{ metadata: { list: [1] } }, ['metadata', 'list']],
        [{ metadata: { long: 'x'.repeat(257) } }, ['metadata', 'long']],
        [{ metadata: Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`k${at}`, at])) }, ['metadata']],
        [{ metadata: { nested: {} } }, ['metadata', 'nested']],
        [{ metadata: { empty: null } }, ['metadata', 'empty']],
      ])('refuses %j at its field', async (body, path) => {
        const answer = await organization.api.post('/v0/inboxes', body)
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ name: 'ValidationError', code: 'validation_error', errors: [{ path }] })
      })

      it('refuses a number that JSON can write and no computer can hold', async () => {
        const answer = await organization.api.post('/v0/inboxes', '{"metadata":{"huge":1e999}}')
        expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: ['metadata', 'huge'] }] } })
      })

      it('checks the form of the other members of a request with a known client_id as well', async () => {
        await organization.api.post('/v0/inboxes', { client_id: 'formed' })
        expect((await organization.api.post('/v0/inboxes', { client_id: 'formed', username: 5 })).status).toBe(400)
      })

      it.each(['{"username":', '[]', '"text"'])('answers %s with a SyntaxError', async (text) => {
        const { status, body } = await organization.api.post('/v0/inboxes', text)
        expect(status).toBe(400)
        expect(body).toMatchObject({ name: 'SyntaxError', code: 'validation_error', errors: [{ path: [] }] })
      })
    })

    describe('403', () => {
      it.each([
        ...['postmaster', 'abuse', 'mailer-daemon', 'dmarc', 'admin', 'administrator', 'hostmaster', 'webmaster'],
        ...['root', 'security', 'ssladmin', 'ssl-admin', 'sslwebmaster', 'sysadmin', 'is', 'it', 'mis', 'no-reply'],
        ...['noreply', 'info-sec', 'autoconfig', 'autodiscover', 'mta-sts', 'tls-rpt', 'frontdesk'],
        ...['No.Reply', 'n_o-reply', 'post.master', 'mailerdaemon', 'i.t', 'front_desk'],
      ])('reserves %s on every shared domain, for sign-up too', async (username) => {
        const refused = [
          await organization.api.post('/v0/inboxes', { username }),
          await organization.api.post('/v0/inboxes', { username, domain: 'second.test' }),
          await gateway.as().post('/v0/agent/sign-up', { username }),
        ]
        for (const { status, body } of refused) {
          expect([status, body['code'], body['name']]).toEqual([403, 'resource_taken', 'IsTakenError'])
        }
      })

      it.each(['support', 'sales', 'help', 'noc', 'administrators'])('allows %s', async (username) => {
        expect((await organization.api.post('/v0/inboxes', { username })).status).toBe(200)
      })

      it('distinguishes addresses of the own organization from those of others', async () => {
        await organization.api.post('/v0/inboxes', { username: 'held' })
        const own = await organization.api.post('/v0/inboxes', { username: 'HELD' })
        expect([own.status, own.body['code']]).toEqual([403, 'already_exists'])
        expect(own.body['message']).toBe('An inbox of this address already exists')
        const stranger = await gateway.organization()
        const other = await stranger.api.post('/v0/inboxes', { username: 'held' })
        expect([other.status, other.body['code']]).toEqual([403, 'resource_taken'])
      })

      it('gives an address to one of many organizations that request it concurrently', async () => {
        const organizations = await Promise.all(Array.from({ length: 5 }, () => gateway.organization()))
        const answers = await Promise.all(
          organizations.map(({ api }) => api.post('/v0/inboxes', { username: 'contested' })),
        )
        expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403, 403])
      })

      it('enforces the limit for concurrent requests', async () => {
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

      it('reports a taken address before the limit', async () => {
        const { api } = await gateway.organization({ inboxes: 1 })
        await api.post('/v0/inboxes', { username: 'only-one' })
        expect((await api.post('/v0/inboxes', { username: 'only-one' })).body['code']).toBe('already_exists')
        expect((await api.post('/v0/inboxes', { username: 'abuse' })).body['code']).toBe('resource_taken')
        expect((await api.post('/v0/inboxes', { username: 'one-more' })).body['code']).toBe('limit_exceeded')
      })

      it('reports an address of the own organization as such, even if the key cannot see it', async () => {
        await organization.api.post('/v0/inboxes', { username: 'unseen' })
        const answer = await (await keyWith({ pod: await newPod() })).post('/v0/inboxes', { username: 'unseen' })
        expect([answer.status, answer.body['code']]).toEqual([403, 'already_exists'])
      })

      it('refuses a key without inbox_create', async () => {
        const reader = await keyWith({ permissions: ['inbox_read'] })
        expect((await reader.post('/v0/inboxes')).body['code']).toBe('missing_permission')
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
        const pod = await newPod()
        const { status, body } = await organization.api.post(`/v0/pods/${pod}/inboxes`, { client_id: 'elsewhere' })
        expect([status, body['code']]).toEqual([409, 'conflict'])
        expect(JSON.stringify(body)).not.toContain('restante.test')
        const sibling = await (await keyWith({ pod })).post('/v0/inboxes', { client_id: 'elsewhere' })
        expect([sibling.status, sibling.body['code']]).toEqual([409, 'conflict'])
      })
    })
  })
})
