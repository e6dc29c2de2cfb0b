import { PERMISSIONS } from '@restante/contracts/access'
import { calculateJwkThumbprint } from 'jose'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'
import { GENERATOR, newKey } from './signing.ts'

/** A published value, not computed by this code. */
const GENERATOR_THUMBPRINT = 'xx0BcA-wMohw8atYDJOe6peGModklG2wRHBlXHMvl0M'
type Organization = Awaited<ReturnType<TestGateway['organization']>>

describe('public keys', () => {
  let gateway: TestGateway
  let organization: Organization

  beforeAll(async () => {
    gateway = await startGateway({ CREDENTIAL_LIMIT: '80' })
    organization = await gateway.organization()
    await organization.api.post('/v0/inboxes', { username: 'bound' })
    await organization.api.post('/v0/inboxes', { username: 'sibling' })
  })
  afterAll(() => gateway.stop())

  async function register(api: Api, body: object = {}, path = '/v0/api-keys') {
    const answer = await api.post(path, { public_key: newKey().jwk, ...body })
    expect(answer).toMatchObject({ status: 200 })
    return { id: String(answer.body['api_key_id']), body: answer.body }
  }

  async function bearer(permissions: object, expires_at?: string): Promise<Api> {
    const { body } = await organization.api.post('/v0/api-keys', { permissions, expires_at })
    return gateway.as(String(body['api_key']))
  }

  const allButAccounts = Object.fromEntries(
    PERMISSIONS.filter((name) => name !== 'account_update').map((name) => [name, true]),
  )

  describe('POST', () => {
    describe('200', () => {
      it('answers with the record, which has the thumbprint of RFC 7638 and no secret', async () => {
        const { body } = await register(organization.api, { public_key: GENERATOR })
        const me = await organization.api.get('/v0/auth/me')
        expect(body).toEqual({
          type: 'public_key',
          api_key_id: expect.any(String),
          name: 'Agent key xx0BcA-w',
          public_key: { jwk: GENERATOR, fingerprint: GENERATOR_THUMBPRINT },
          permissions: allButAccounts,
          created_by: { api_key_id: me.body['api_key_id'] },
          created_at: expect.any(String),
          updated_at: expect.any(String),
        })
      })

      it('computes the published thumbprint', async () => {
        const jwk = newKey().jwk
        const { body } = await register(organization.api, { public_key: jwk })
        expect(body['public_key']).toEqual({ jwk, fingerprint: await calculateJwkThumbprint({ ...jwk }) })
      })

      it('lists what a restricted creator holds, app_connect with the rest', async () => {
        const permissions = { api_key_create: true, app_connect: true, account_update: true }
        const { body } = await register(await bearer(permissions))
        expect(body['permissions']).toEqual({ api_key_create: true, app_connect: true })
      })

      it('leaves app_connect out where an unrestricted creator does not hold it', async () => {
        const child = await organization.api.post('/v0/api-keys')
        const { body } = await register(gateway.as(String(child.body['api_key'])))
        expect(body['permissions']).toEqual({ ...allButAccounts, app_connect: undefined })
      })

      it('grants requested permissions that the creator has', async () => {
        const { body } = await register(organization.api, { permissions: { inbox_read: true, pod_read: false } })
        expect(body['permissions']).toEqual({ inbox_read: true })
        expect((await register(organization.api, { permissions: {} })).body['permissions']).toEqual({})
      })

      it('binds the key to the scope of the path, and names the pod of its inbox', async () => {
        const pod = await register(organization.api, {}, `/v0/pods/${organization.id}/api-keys`)
        expect(pod.body).toMatchObject({ pod_id: organization.id })
        expect(pod.body).not.toHaveProperty('inbox_id')
        const inbox = await register(organization.api, {}, '/v0/inboxes/bound@restante.test/api-keys')
        expect(inbox.body).toMatchObject({ pod_id: organization.id, inbox_id: 'bound@restante.test' })
      })

      it('inherits the expiry once, and takes an earlier one', async () => {
        const soon = new Date(Date.now() + 60_000).toISOString()
        const sooner = new Date(Date.now() + 30_000).toISOString()
        const creator = await bearer({ api_key_create: true }, soon)
        expect((await register(creator)).body['expires_at']).toBe(soon)
        expect((await register(creator, { expires_at: sooner })).body['expires_at']).toBe(sooner)
      })

      it('makes two credentials of one key that is registered twice without an alias', async () => {
        const public_key = newKey().jwk
        const [one, other] = [
          await register(organization.api, { public_key }),
          await register(organization.api, { public_key }),
        ]
        expect(one.id).not.toBe(other.id)
      })

      it('answers a repeated alias with the existing key, whatever else the body says', async () => {
        const public_key = newKey().jwk
        const first = await register(organization.api, { public_key, client_id: 'laptop', name: 'First' })
        await organization.api.patch('/v0/api-keys/laptop', { name: 'Renamed' })
        const again = {
          public_key,
          client_id: 'laptop',
          name: 'Other',
          permissions: {},
          expires_at: '2020-01-01T00:00:00Z',
        }
        const repeated = await organization.api.post('/v0/api-keys', again)
        expect(repeated.status).toBe(200)
        expect(repeated.body).toMatchObject({ api_key_id: first.id, name: 'Renamed', permissions: allButAccounts })
        expect((await gateway.events(organization.id)).filter(({ subject }) => subject === first.id)).toHaveLength(2)
      })

      it('creates one credential for many concurrent registrations of one alias', async () => {
        const body = { public_key: newKey().jwk, client_id: 'crowd' }
        const answers = await Promise.all(Array.from({ length: 12 }, () => organization.api.post('/v0/api-keys', body)))
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200))
        expect(new Set(answers.map((answer) => answer.body['api_key_id'])).size).toBe(1)
      })

      it('frees an alias with its key', async () => {
        await register(organization.api, { client_id: 'freed' })
        expect((await organization.api.delete('/v0/api-keys/freed')).status).toBe(204)
        await register(organization.api, { client_id: 'freed' })
      })
    })
  })

  describe('GET', () => {
    it('finds a key by id and by alias, inside the scope only', async () => {
      const path = '/v0/inboxes/bound@restante.test/api-keys'
      const { id, body } = await register(organization.api, { client_id: 'door' }, path)
      for (const reference of [id, 'door']) {
        expect((await organization.api.get(`/v0/api-keys/${reference}`)).body).toEqual(body)
        expect((await organization.api.get(`${path}/${reference}`)).body).toEqual(body)
        const elsewhere = `/v0/inboxes/sibling@restante.test/api-keys/${reference}`
        expect((await organization.api.get(elsewhere)).status).toBe(404)
        const stranger = await gateway.organization()
        expect((await stranger.api.get(`/v0/api-keys/${reference}`)).status).toBe(404)
      }
    })

    it('takes a segment for an id first, then for an alias', async () => {
      const named = await register(organization.api)
      const { id } = await register(organization.api, { client_id: named.id })
      expect((await organization.api.get(`/v0/api-keys/${named.id}`)).body['api_key_id']).toBe(named.id)
      await organization.api.delete(`/v0/api-keys/${named.id}`)
      expect((await organization.api.get(`/v0/api-keys/${named.id}`)).body['api_key_id']).toBe(id)
    })

    it.each(['a%20b', 'a%2Fb', 'none'])('404 for %s', async (reference) => {
      const { status, body } = await organization.api.get(`/v0/api-keys/${reference}`)
      expect([status, body['message']]).toEqual([404, 'API key not found'])
    })

    it('lists both families together, and each by its type', async () => {
      const { api } = await gateway.organization()
      await register(api, { name: 'signer' })
      const kinds = async (query: string) => {
        const { body } = await api.get(`/v0/api-keys${query}`)
        return Array.isArray(body['api_keys']) ? body['api_keys'].map(({ type, name }) => [type, name]) : body
      }
      expect(await kinds('')).toEqual([
        ['public_key', 'signer'],
        ['bearer', 'My API Key'],
      ])
      expect(await kinds('?type=public_key')).toEqual([['public_key', 'signer']])
      expect(await kinds('?type=bearer')).toEqual([['bearer', 'My API Key']])
    })
  })

  describe('PATCH', () => {
    it('renames and merges, by id or alias; the record stays explicit', async () => {
      const { id } = await register(organization.api, { client_id: 'patched', permissions: { inbox_read: true } })
      const { status, body } = await organization.api.patch('/v0/api-keys/patched', {
        name: 'New',
        permissions: { message_read: true, inbox_read: false },
      })
      expect(status).toBe(200)
      expect(body).toMatchObject({ api_key_id: id, name: 'New', permissions: { message_read: true } })
      expect(body['permissions']).not.toHaveProperty('inbox_read')
    })

    it('400 for null permissions: a public key is never unrestricted', async () => {
      const { id } = await register(organization.api)
      const { status, body } = await organization.api.patch(`/v0/api-keys/${id}`, { permissions: null })
      expect(status).toBe(400)
      expect(body).toMatchObject({ errors: [{ path: ['permissions'] }] })
    })

    it('403 for account_update, and for permissions that the editor does not have', async () => {
      const { id } = await register(organization.api, { permissions: { inbox_read: true } })
      const accounts = await organization.api.patch(`/v0/api-keys/${id}`, { permissions: { account_update: true } })
      expect([accounts.status, accounts.body['code']]).toEqual([403, 'permission_escalation'])
      const editor = await bearer({ api_key_update: true })
      const more = await editor.patch(`/v0/api-keys/${id}`, { permissions: { pod_read: true } })
      expect(more.body['code']).toBe('permission_escalation')
      const again = await editor.patch(`/v0/api-keys/${id}`, { permissions: { inbox_read: true } })
      expect(again.status).toBe(200)
    })
  })

  it('outlives the key that registered it, and still names it', async () => {
    const created = await organization.api.post('/v0/api-keys')
    const creator = String(created.body['api_key_id'])
    const { id } = await register(gateway.as(String(created.body['api_key'])))
    await organization.api.delete(`/v0/api-keys/${creator}`)
    const { body } = await organization.api.get(`/v0/api-keys/${id}`)
    expect(body['created_by']).toEqual({ api_key_id: creator })
  })

  it('does not authenticate by its id', async () => {
    const { id } = await register(organization.api)
    const { status, body } = await gateway.as(id).get('/v0/auth/me')
    expect([status, body['code']]).toEqual([401, 'unknown_api_key'])
  })

  it('204 on deletion, 404 on a second one', async () => {
    const { id } = await register(organization.api)
    expect((await organization.api.delete(`/v0/api-keys/${id}`)).status).toBe(204)
    expect((await organization.api.delete(`/v0/api-keys/${id}`)).status).toBe(404)
    expect((await organization.api.get(`/v0/api-keys/${id}`)).status).toBe(404)
  })

  it('publishes the event, without a prefix, and writes the audit log', async () => {
    const { id } = await register(organization.api, { permissions: { inbox_read: true } })
    await organization.api.delete(`/v0/api-keys/${id}`)
    const events = (await gateway.events(organization.id)).filter(({ subject }) => subject === id)
    expect(events.map(({ type }) => type)).toEqual(['credential.changed', 'credential.deleted'])
    expect(events[0]?.payload).toMatchObject({ type: 'public_key', tier: 'organization', permissions: ['inbox_read'] })
    expect(events[0]?.payload).not.toHaveProperty('prefix')
    const entries = await gateway.db.orm.auditEntry.findMany({
      where: { credentialId: id },
      orderBy: { position: 'asc' },
    })
    expect(entries.map(({ action, credentialType }) => [action, credentialType])).toEqual([
      ['credential.created', 'public_key'],
      ['credential.revoked', 'public_key'],
    ])
    const fingerprint = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/)
    expect(entries[0]?.details).toMatchObject({ after: { permissions: ['inbox_read'], fingerprint } })
  })
})
