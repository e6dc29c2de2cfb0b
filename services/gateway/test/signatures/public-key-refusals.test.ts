import { waitFor } from '@restante/testkit'
import { type Api, startGateway, type TestGateway } from '../gateway.ts'
import { GENERATOR, newKey } from './signing.ts'

/** The prime of the curve's field: 32 bytes that are no coordinate. */
const FIELD_PRIME = Buffer.from('ffffffff00000001000000000000000000000000ffffffffffffffffffffffff', 'hex')

type Organization = Awaited<ReturnType<TestGateway['organization']>>

describe('a public key is not registered', () => {
  let gateway: TestGateway
  let organization: Organization

  beforeAll(async () => {
    gateway = await startGateway({ CREDENTIAL_LIMIT: '80' })
    organization = await gateway.organization()
    await organization.api.post('/v0/inboxes', { username: 'bound' })
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

  describe('400', () => {
    const { x: _x, ...withoutX } = GENERATOR
    it.each<[string, unknown, (string | number)[]]>([
      ['null', null, ['public_key']],
      ['a string', 'MFkwEw', ['public_key']],
      ['another type', { ...GENERATOR, kty: 'RSA' }, ['public_key', 'kty']],
      ['another curve', { ...GENERATOR, crv: 'P-384' }, ['public_key', 'crv']],
      ['a private key', { ...GENERATOR, d: 'AAAA' }, ['public_key', 'd']],
      ['a key id', { ...GENERATOR, kid: 'mine' }, ['public_key', 'kid']],
      ['no x', withoutX, ['public_key', 'x']],
      ['padding', { ...GENERATOR, y: `${GENERATOR.y}=` }, ['public_key', 'y']],
      ['a short coordinate', { ...GENERATOR, x: GENERATOR.x.slice(1) }, ['public_key', 'x']],
      ['standard base64', { ...GENERATOR, x: GENERATOR.x.replace('a', '+') }, ['public_key', 'x']],
      ['spare bits that are set', { ...GENERATOR, x: `${GENERATOR.x.slice(0, -1)}Z` }, ['public_key', 'x']],
      ['a point off the curve', { ...GENERATOR, y: GENERATOR.x }, ['public_key', 'y']],
      ['a coordinate beyond the field', { ...GENERATOR, x: FIELD_PRIME.toString('base64url') }, ['public_key', 'y']],
    ])('refuses %s at its member, and makes no bearer key of it', async (_case, public_key, path) => {
      const before = await gateway.db.orm.credential.count()
      const { status, body } = await organization.api.post('/v0/api-keys', { public_key })
      expect([status, body['code']]).toEqual([400, 'validation_error'])
      expect(body).toMatchObject({ errors: [{ path }] })
      expect(await gateway.db.orm.credential.count()).toBe(before)
    })

    it.each([
      [{ client_id: 'a@b' }, ['client_id']],
      [{ client_id: '' }, ['client_id']],
      [{ name: ' ' }, ['name']],
      [{ permissions: null }, ['permissions']],
      [{ permissions: { provider_share_owner: true } }, ['permissions', 'provider_share_owner']],
      [{ expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    ])('refuses %j at its field', async (more, path) => {
      const { status, body } = await organization.api.post('/v0/api-keys', { public_key: newKey().jwk, ...more })
      expect(status).toBe(400)
      expect(body).toMatchObject({ errors: [{ path }] })
    })
  })

  describe('403', () => {
    it("grants account_update to no public key, whatever the caller's rights", async () => {
      const permissions = { account_update: true, inbox_read: true }
      const { status, body } = await organization.api.post('/v0/api-keys', { public_key: newKey().jwk, permissions })
      expect([status, body['code']]).toEqual([403, 'permission_escalation'])
      expect(body['fix']).toContain('account_update')
      expect(body['fix']).not.toContain('inbox_read')
    })

    it('names what the creator does not hold', async () => {
      const creator = await bearer({ api_key_create: true })
      const permissions = { api_key_create: true, message_reply: true }
      const { body } = await creator.post('/v0/api-keys', { public_key: newKey().jwk, permissions })
      expect(body).toMatchObject({ code: 'permission_escalation', fix: expect.stringContaining('message_reply') })
    })

    it('registers no key that outlives its creator', async () => {
      const creator = await bearer({ api_key_create: true }, new Date(Date.now() + 60_000).toISOString())
      const { body } = await creator.post('/v0/api-keys', {
        public_key: newKey().jwk,
        expires_at: '2099-01-01T00:00:00Z',
      })
      expect(body['code']).toBe('permission_escalation')
    })

    it('counts public keys among the live credentials', async () => {
      const { id, api } = await gateway.organization()
      const create = () => api.post('/v0/api-keys', { public_key: GENERATOR })
      await Promise.all(Array.from({ length: 85 }, create))
      // On a busy machine some of so many at once get no connection, and room is left.
      const refusal = await waitFor(
        async () => {
          const answer = await create()
          return answer.status === 403 && answer.body
        },
        { what: 'the limit' },
      )
      expect(refusal).toMatchObject({ code: 'limit_exceeded', limit: 80 })
      expect(await gateway.db.orm.credential.count({ where: { organizationId: id } })).toBe(80)
    })
  })

  describe('409', () => {
    it('conflict for an alias with another key, or in another scope, without revealing its holder', async () => {
      const public_key = newKey().jwk
      const { id } = await register(organization.api, { public_key, client_id: 'taken' })
      const attempts: [string, object][] = [
        ['/v0/api-keys', { public_key: newKey().jwk }],
        ['/v0/inboxes/bound@restante.test/api-keys', { public_key }],
        [`/v0/pods/${organization.id}/api-keys`, { public_key }],
      ]
      for (const [path, body] of attempts) {
        const answer = await organization.api.post(path, { ...body, client_id: 'taken' })
        expect([answer.status, answer.body['code']]).toEqual([409, 'conflict'])
        expect(JSON.stringify(answer.body)).not.toContain(id)
      }
    })

    it('leaves the aliases of other organizations alone', async () => {
      await register(organization.api, { client_id: 'everywhere' })
      const stranger = await gateway.organization()
      await register(stranger.api, { client_id: 'everywhere' })
    })
  })
})
