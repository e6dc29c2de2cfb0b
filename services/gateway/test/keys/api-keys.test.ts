import { PERMISSIONS } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { trueUntil, waitFor } from '@restante/testkit'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'

const HOLD_ORGANIZATION = sql<{ id: string }, [id: string]>('select id from organizations where id = $1 for update')
const HOLD_KEY = sql<{ id: string }, [id: string]>('select id from credentials where id = $1 for update')
const BURY = sql<never, [id: string]>('update inboxes set deleted_at = now() where organization_id = $1')
const BLOCKED = sql<{ pid: number }>(
  "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
)

type Organization = Awaited<ReturnType<TestGateway['organization']>>

describe('API keys', () => {
  let gateway: TestGateway
  let organization: Organization

  beforeAll(async () => {
    gateway = await startGateway({ CREDENTIAL_LIMIT: '60' })
    organization = await gateway.organization()
    await organization.api.post('/v0/inboxes', { username: 'bound' })
    await organization.api.post('/v0/inboxes', { username: 'sibling' })
  })
  afterAll(() => gateway.stop())

  async function create(api: Api, body: unknown = {}, path = '/v0/api-keys') {
    const answer = await api.post(path, body)
    expect(answer.status).toBe(200)
    const secret = String(answer.body['api_key'])
    return { id: String(answer.body['api_key_id']), secret, api: gateway.as(secret), body: answer.body }
  }

  describe('POST', () => {
    describe('200', () => {
      it('shows the secret once, with neither type nor updated_at', async () => {
        const { body, secret } = await create(organization.api)
        expect(body).toEqual({
          api_key_id: expect.any(String),
          api_key: expect.stringMatching(/^am_us_[0-9a-f]{64}$/),
          prefix: secret.slice(0, 14),
          name: 'My API Key',
          created_at: expect.any(String),
        })
      })

      it('copies the permissions of a restricted creator, without app_connect', async () => {
        const permissions = {
          api_key_create: true,
          inbox_read: true,
          app_connect: true,
          pod_read: false,
          made_up: true,
        }
        const parent = await create(organization.api, { permissions })
        expect(parent.body['permissions']).toEqual({ api_key_create: true, inbox_read: true, app_connect: true })
        const child = await create(parent.api)
        expect(child.body['permissions']).toEqual({ api_key_create: true, inbox_read: true })
      })

      it('creates a key without permissions from an empty object, for operations that need none', async () => {
        const { api, body } = await create(organization.api, { permissions: {} })
        expect(body['permissions']).toEqual({})
        expect((await api.get('/v0/auth/me')).status).toBe(200)
        expect((await api.get('/v0/inboxes')).status).toBe(403)
      })

      it.each([
        ['/v0/inboxes/bound@restante.test/api-keys', { inbox_id: 'bound@restante.test' }],
        ['/v0/inboxes/BOUND%40restante.test/api-keys', { inbox_id: 'bound@restante.test' }],
      ])('binds the key to the scope of %s', async (path, bound) => {
        const { body, api } = await create(organization.api, {}, path)
        expect(body).toMatchObject(bound)
        expect(body).not.toHaveProperty('pod_id')
        expect((await api.get('/v0/auth/me')).body['scope_type']).toBe('inbox')
      })

      it('binds the key to the pod of the path, and on /v0 to the creator’s own tier', async () => {
        const pod = await create(organization.api, {}, `/v0/pods/${organization.id}/api-keys`)
        expect(pod.body).toMatchObject({ pod_id: organization.id })
        const child = await create(pod.api)
        expect(child.body).toMatchObject({ pod_id: organization.id })
        const inbox = await create(pod.api, {}, '/v0/inboxes/bound@restante.test/api-keys')
        const grandchild = await create(inbox.api)
        expect(grandchild.body).toMatchObject({ inbox_id: 'bound@restante.test' })
      })

      it('inherits the expiry once, and accepts an earlier one', async () => {
        const soon = new Date(Date.now() + 60_000).toISOString()
        const sooner = new Date(Date.now() + 30_000).toISOString()
        const parent = await create(organization.api, { expires_at: soon })
        expect((await create(parent.api)).body['expires_at']).toBe(soon)
        expect((await create(parent.api, { expires_at: sooner })).body['expires_at']).toBe(sooner)
      })
    })

    describe('400', () => {
      it.each([
        [{ name: '' }, ['name']],
        [{ name: 'two\nlines' }, ['name']],
        [{ expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
        [{ expires_at: '2040-01-01' }, ['expires_at']],
        [{ permissions: { inbox_read: 'yes' } }, ['permissions', 'inbox_read']],
        [{ permissions: { provider_connect: true } }, ['permissions', 'provider_connect']],
        [{ permissions: [] }, ['permissions']],
        [{ public_key: null }, ['public_key']],
      ])('refuses %j at its field', async (body, path) => {
        const answer = await organization.api.post('/v0/api-keys', body)
        expect(answer.status).toBe(400)
        expect(answer.body).toMatchObject({ errors: [{ path }] })
      })
    })

    describe('403', () => {
      it('names the permission that the creator does not have', async () => {
        const parent = await create(organization.api, { permissions: { api_key_create: true, inbox_read: true } })
        const permissions = { inbox_read: true, message_send: true, app_connect: true }
        const { status, body } = await parent.api.post('/v0/api-keys', { permissions })
        expect(status).toBe(403)
        expect(body).toMatchObject({
          code: 'permission_escalation',
          fix: expect.stringContaining('message_send, app_connect'),
        })
      })

      it('creates no unrestricted key for a restricted creator', async () => {
        const parent = await create(organization.api, { permissions: { api_key_create: true } })
        const { body } = await parent.api.post('/v0/api-keys', { permissions: null })
        expect(body).toMatchObject({
          code: 'unrestricted_key_required',
          fix: expect.stringMatching(
            /^Set 'permissions' to an object of .*, instead of null; or use an unrestricted key/,
          ),
        })
      })

      it('creates no key that outlives its creator', async () => {
        const parent = await create(organization.api, { expires_at: new Date(Date.now() + 60_000).toISOString() })
        const { body } = await parent.api.post('/v0/api-keys', { expires_at: '2099-01-01T00:00:00Z' })
        expect(body['code']).toBe('permission_escalation')
      })

      it('enforces the limit of live keys for concurrent requests', async () => {
        const { id, api } = await gateway.organization()
        await Promise.all(Array.from({ length: 70 }, () => api.post('/v0/api-keys')))
        // On a busy machine some of so many at once get no connection, and room is left.
        const refusal = await waitFor(
          async () => {
            const answer = await api.post('/v0/api-keys')
            return answer.status === 403 && answer.body
          },
          { what: 'the limit' },
        )
        expect(refusal).toMatchObject({ code: 'limit_exceeded', limit: 60 })
        expect(await gateway.db.orm.credential.count({ where: { organizationId: id } })).toBe(60)
      })
    })
  })

  describe('GET', () => {
    it('never shows the secret, and omits unset members', async () => {
      const { id, secret } = await create(organization.api, { name: 'Plain' })
      const { status, body } = await organization.api.get(`/v0/api-keys/${id}`)
      expect(status).toBe(200)
      expect(body).toEqual({
        type: 'bearer',
        api_key_id: id,
        prefix: secret.slice(0, 14),
        name: 'Plain',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
    })

    it('records when a key was last used', async () => {
      const { id, api } = await create(organization.api)
      await api.get('/v0/auth/me')
      const used = await waitFor(async () => (await organization.api.get(`/v0/api-keys/${id}`)).body['used_at'], {
        what: 'the time of the last use',
      })
      expect(Date.now() - Date.parse(String(used))).toBeLessThan(60_000)
    })

    it('records the use of a key while another is being changed', async () => {
      const [changing, used] = [await create(organization.api), await create(organization.api)]
      await gateway.db.transaction(async (tx) => {
        await tx.query(HOLD_KEY, changing.id)
        await Promise.all([changing, used].map(({ api }) => api.get('/v0/auth/me')))
        const noted = async () => (await organization.api.get(`/v0/api-keys/${used.id}`)).body['used_at']
        await waitFor(noted, { what: 'the use to be noted' })
      })
    })

    it('lists keys in the scope of key and path, newest first', async () => {
      const { id, api } = await gateway.organization()
      await api.post('/v0/inboxes', { username: 'tree' })
      const pod = await create(api, { name: 'pod' }, `/v0/pods/${id}/api-keys`)
      const inbox = await create(api, { name: 'inbox' }, '/v0/inboxes/tree@restante.test/api-keys')
      const names = async (from: Api, path: string) => {
        const { body } = await from.get(path)
        return Array.isArray(body['api_keys']) ? body['api_keys'].map((key) => key.name) : body
      }
      expect(await names(api, '/v0/api-keys')).toEqual(['inbox', 'pod', 'My API Key'])
      expect(await names(api, `/v0/pods/${id}/api-keys`)).toEqual(['inbox', 'pod'])
      expect(await names(api, '/v0/inboxes/tree@restante.test/api-keys')).toEqual(['inbox'])
      expect(await names(pod.api, '/v0/api-keys')).toEqual(['inbox', 'pod'])
      expect(await names(inbox.api, '/v0/api-keys')).toEqual(['inbox'])
      expect(await names(api, '/v0/api-keys?type=public_key')).toEqual([])
      expect(await names(api, '/v0/api-keys?type=bearer&ascending=true')).toEqual(['My API Key', 'pod', 'inbox'])
      expect((await api.get('/v0/api-keys?type=cookie')).status).toBe(400)
    })

    it('404 for a key of a wider tier, of another organization, and for a malformed id', async () => {
      const wide = await create(organization.api)
      const narrow = await create(organization.api, {}, '/v0/inboxes/bound@restante.test/api-keys')
      const stranger = await gateway.organization()
      for (const api of [narrow.api, stranger.api]) {
        const { status, body } = await api.get(`/v0/api-keys/${wide.id}`)
        expect([status, body['message']]).toEqual([404, 'API key not found'])
      }
      expect((await organization.api.get('/v0/api-keys/not-an-id')).status).toBe(404)
      expect((await organization.api.get(`/v0/inboxes/sibling@restante.test/api-keys/${narrow.id}`)).status).toBe(404)
    })
  })

  describe('PATCH', () => {
    it('renames, and keeps permissions that are not named', async () => {
      const { id } = await create(organization.api, { permissions: { inbox_read: true, message_read: true } })
      const { body } = await organization.api.patch(`/v0/api-keys/${id}`, { name: 'New' })
      expect(body).toMatchObject({ name: 'New', permissions: { inbox_read: true, message_read: true } })
      const permissions = { message_send: true, inbox_read: false }
      const merged = await organization.api.patch(`/v0/api-keys/${id}`, { permissions })
      expect(merged.body['permissions']).toEqual({ message_read: true, message_send: true })
    })

    it('changes updated_at, and publishes an event, only with a real change', async () => {
      const { id, api } = await gateway.organization()
      const made = await create(api, { name: 'same', permissions: { inbox_read: true } })
      const patch = (body: object) => api.patch(`/v0/api-keys/${made.id}`, body)
      const nothing = { name: ' same ', permissions: { inbox_read: true, message_read: false } }
      expect((await patch(nothing)).body['updated_at']).toBe(made.body['created_at'])
      const changed = await patch({ permissions: { message_read: true } })
      expect(String(changed.body['updated_at']) > String(made.body['created_at'])).toBe(true)
      expect((await gateway.events(id)).filter(({ subject }) => subject === made.id)).toHaveLength(2)
    })

    it('turns an unrestricted key into one that holds the named members only', async () => {
      const { id } = await create(organization.api)
      const { body } = await organization.api.patch(`/v0/api-keys/${id}`, { permissions: { inbox_read: true } })
      expect(body['permissions']).toEqual({ inbox_read: true })
    })

    it('takes effect for the next request', async () => {
      const { id, api } = await create(organization.api)
      expect((await api.get('/v0/inboxes')).status).toBe(200)
      await organization.api.patch(`/v0/api-keys/${id}`, { permissions: {} })
      expect((await api.get('/v0/inboxes')).status).toBe(403)
    })

    it('does not let a restricted key change an unrestricted one, and names the required key', async () => {
      const { id } = await create(organization.api)
      const editor = await create(organization.api, { permissions: { api_key_update: true, inbox_read: true } })
      const { status, body } = await editor.api.patch(`/v0/api-keys/${id}`, { permissions: { inbox_read: true } })
      expect(status).toBe(403)
      expect(body).toMatchObject({
        code: 'unrestricted_key_required',
        fix: expect.stringMatching(/^The key to be changed is unrestricted\. Use an unrestricted key for it/),
      })
    })

    it('lets a key narrow itself and never widen itself', async () => {
      const { id, api } = await create(organization.api, { permissions: { api_key_update: true, inbox_read: true } })
      expect((await api.patch(`/v0/api-keys/${id}`, { permissions: { inbox_read: false } })).status).toBe(200)
      const wider = await api.patch(`/v0/api-keys/${id}`, { permissions: { inbox_read: true } })
      expect(wider.body['code']).toBe('permission_escalation')
      const open = await api.patch(`/v0/api-keys/${id}`, { permissions: null })
      expect(open.body['code']).toBe('unrestricted_key_required')
    })

    it.each([[{}], [{ expires_at: '2040-01-01T00:00:00Z' }], [{ expires_at: null }], [{ name: 7 }]])(
      '400 for %j',
      async (body) => {
        const { id } = await create(organization.api)
        expect((await organization.api.patch(`/v0/api-keys/${id}`, body)).status).toBe(400)
      },
    )
  })

  it('creates no key for an inbox that is deleted while the request runs', async () => {
    const { id, api } = await gateway.organization()
    await api.post('/v0/inboxes', { client_id: 'going' })
    const creating = await gateway.db.transaction(async (tx) => {
      await tx.query(HOLD_ORGANIZATION, id)
      const answer = api.post('/v0/inboxes/going/api-keys')
      await waitFor(async () => (await gateway.db.query(BLOCKED)).length > 0, { what: 'the request to wait' })
      await tx.query(BURY, id)
      return { answer }
    })
    const { status, body } = await creating.answer
    expect([status, body['message']]).toEqual([404, 'Inbox not found'])
    expect(await gateway.db.orm.credential.count({ where: { organizationId: id } })).toBe(1)
  })

  describe('DELETE', () => {
    it('204: the key ends at once, keys created by it stay, and a second delete is 404', async () => {
      const parent = await create(organization.api)
      const child = await create(parent.api)
      expect((await organization.api.delete(`/v0/api-keys/${parent.id}`)).status).toBe(204)
      expect((await parent.api.get('/v0/auth/me')).body['code']).toBe('unknown_api_key')
      expect((await child.api.get('/v0/auth/me')).status).toBe(200)
      expect((await organization.api.delete(`/v0/api-keys/${parent.id}`)).status).toBe(404)
    })

    it('lets a key delete itself', async () => {
      const { id, api } = await create(organization.api)
      expect((await api.delete(`/v0/api-keys/${id}`)).status).toBe(204)
      expect((await api.get('/v0/auth/me')).status).toBe(401)
    })

    it('takes effect within a second in another process', async () => {
      const other = await gateway.another()
      const { id, secret } = await create(organization.api)
      const elsewhere = other.as(secret)
      expect((await elsewhere.get('/v0/auth/me')).status).toBe(200)
      await organization.api.delete(`/v0/api-keys/${id}`)
      const isAdmitted = async () => (await elsewhere.get('/v0/auth/me')).status !== 401
      expect(await trueUntil(isAdmitted, { what: 'the revocation' })).toBeLessThan(LIMITS.apiKey.cache)
    })

    it('publishes the deletion with a version above the last state', async () => {
      const { id } = await create(organization.api, {
        permissions: Object.fromEntries(PERMISSIONS.map((name) => [name, true])),
      })
      await organization.api.patch(`/v0/api-keys/${id}`, { name: 'Once more' })
      await organization.api.delete(`/v0/api-keys/${id}`)
      const events = (await gateway.events(organization.id)).filter(({ subject }) => subject === id)
      expect(events.map(({ type, payload }) => [type, payload['version']])).toEqual([
        ['credential.changed', 1],
        ['credential.changed', 2],
        ['credential.deleted', 3],
      ])
      expect(JSON.stringify(events)).not.toContain('secret')
    })
  })
})
