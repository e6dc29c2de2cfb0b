import { randomUUID } from 'node:crypto'
import { newKey } from '../signatures/signing.ts'
import { SignIn } from './sign-in.ts'

const KEYS = '/v0/api-keys/public-keys'
const REVOKE = [`${KEYS}/agentid-sign-in/revoke-all`, '/v0/api-keys/agentid-sign-in/revoke-all']

describe('public keys under the paths of older clients', () => {
  let signIn: SignIn

  beforeAll(async () => {
    signIn = await SignIn.start()
  })
  afterAll(() => signIn.stop())

  it('are registered, listed, renamed and deleted, with their scope', async () => {
    const f = await signIn.seed()
    const { body: made } = await f.api.post(KEYS, { public_key: newKey().jwk, name: 'Robot' })
    expect(made).toMatchObject({ type: 'public_key', name: 'Robot', scope: { type: 'organization' } })
    const { id } = await signIn.active(f)
    const { status, body } = await f.api.get(KEYS)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      count: 2,
      public_keys: [
        { api_key_id: id, status: 'active', scope: { type: 'inbox', id: f.inbox } },
        { api_key_id: made['api_key_id'], name: 'Robot' },
      ],
    })
    const renamed = await f.api.patch(`${KEYS}/${made['api_key_id']}`, { name: 'Arm' })
    expect(renamed.body).toMatchObject({ name: 'Arm', scope: { type: 'organization' } })
    expect((await f.api.delete(`${KEYS}/${made['api_key_id']}`)).status).toBe(204)
    expect((await f.api.get(`/v0/api-keys/${made['api_key_id']}`)).status).toBe(404)
  })

  it('are registered for a narrower scope that the body names, and for none outside that of the key', async () => {
    const [f, other] = [await signIn.seed(), await signIn.seed()]
    const register = (scope: object, api = f.api) => api.post(KEYS, { public_key: newKey().jwk, scope })
    const inbox = { type: 'inbox', id: f.inbox }
    expect((await register(inbox)).body).toMatchObject({ inbox_id: f.inbox, pod_id: f.id, scope: inbox })
    expect((await register({ type: 'pod', id: f.id })).body).toMatchObject({ pod_id: f.id, scope: { type: 'pod' } })
    expect((await register({ type: 'inbox', id: other.inbox })).status).toBe(404)
    expect((await register({ type: 'pod', id: other.id })).status).toBe(404)
    expect((await register({ type: 'pod' })).status).toBe(400)
    const narrow = await signIn.bearer(f, { api_key_create: true }, `/v0/inboxes/${f.inbox}/api-keys`)
    expect((await register({ type: 'organization' }, narrow.api)).status).toBe(404)
    expect((await register({ type: 'pod', id: f.id }, narrow.api)).status).toBe(404)
    expect((await register(inbox, narrow.api)).body).toMatchObject({ scope: inbox })
  })

  it('do not reach bearer keys', async () => {
    const f = await signIn.seed()
    expect((await f.api.patch(`${KEYS}/${f.creator}`, { name: 'Mine' })).status).toBe(404)
    expect((await f.api.delete(`${KEYS}/${f.creator}`)).status).toBe(404)
    expect((await f.api.get('/v0/auth/me')).status).toBe(200)
  })

  it.each(REVOKE)(
    'revoke all sign-in keys at once by %s, and no other key, once for a repeated request',
    async (path) => {
      const f = await signIn.seed()
      await f.api.post('/v0/api-keys', { public_key: newKey().jwk })
      const ids = [await signIn.minted(f), (await signIn.active(f)).id]
      const key = { 'idempotency-key': randomUUID() }
      const first = await f.api.post(path, undefined, key)
      expect(first).toMatchObject({ status: 200, body: { previous_generation: 0, current_generation: 1 } })
      for (const id of ids) expect(await signIn.facts(id)).toEqual({})
      expect((await f.api.get('/v0/api-keys')).body['count']).toBe(2)

      const later = await signIn.minted(f)
      const repeated = await Promise.all(REVOKE.map((each) => f.api.post(each, undefined, key)))
      expect(repeated.map(({ body }) => body)).toEqual([first.body, first.body])
      expect((await signIn.facts(later)).credential).toBeDefined()
      expect((await f.api.post(path)).body).toMatchObject({ previous_generation: 1, current_generation: 2 })
      expect(await signIn.facts(later)).toEqual({})
    },
  )

  it('revoke those in the scope of the key only, with the permission, and refuse a key of the header that is none', async () => {
    const f = await signIn.seed()
    const { body: sibling } = await f.api.post('/v0/inboxes', {})
    const path = `/v0/inboxes/${sibling['inbox_id']}/api-keys`
    const [narrow, weak] = [await signIn.bearer(f, { api_key_delete: true }, path), await signIn.bearer(f, {})]
    const { id } = await signIn.active(f)
    const key = { 'idempotency-key': randomUUID() }
    expect((await narrow.api.post(REVOKE[0] ?? '', undefined, key)).status).toBe(200)
    expect((await signIn.facts(id)).credential).toBeDefined()
    expect(await f.api.post(REVOKE[0] ?? '', undefined, key)).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect((await weak.api.post(REVOKE[0] ?? '')).body['code']).toBe('missing_permission')
    const malformed = await f.api.post(REVOKE[0] ?? '', undefined, { 'idempotency-key': 'mine' })
    expect(malformed.body).toMatchObject({ errors: [{ path: ['headers', 'idempotency-key'] }] })
  })
})
