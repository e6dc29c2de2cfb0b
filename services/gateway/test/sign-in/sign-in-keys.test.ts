import { randomUUID } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { lastingPeriod } from '@restante/testkit'
import { calculateJwkThumbprint } from 'jose'
import { newKey } from '../signatures/signing.ts'
import { SignIn } from './sign-in.ts'

const AGE = sql<never, [createdBy: string, by: string]>(
  'update counted_sign_in_keys set minted_at = minted_at - $2::interval, activated_at = activated_at - $2::interval where created_by = $1',
)
/** Keys that were minted two hours ago, and activated now. */
const COUNT_ACTIVE = sql<never, [organizationId: string, createdBy: string, keys: number]>(`
insert into counted_sign_in_keys (credential_id, organization_id, created_by, minted_at, activated_at)
select gen_random_uuid(), $1, $2, now() - interval '2 h', now() from generate_series(1, $3)`)
/** Keys that were minted now. */
const COUNT = sql<never, [organizationId: string, createdBy: string, keys: number]>(`
insert into counted_sign_in_keys (credential_id, organization_id, created_by, minted_at)
select gen_random_uuid(), $1, $2, now() from generate_series(1, $3)`)

describe('sign-in keys', () => {
  let signIn: SignIn

  beforeAll(async () => {
    signIn = await SignIn.start({ CREDENTIAL_LIMIT: '150' })
  })
  afterAll(() => signIn.stop())

  describe('mintSignInKey', () => {
    it('stores a pending key of one inbox, which every list of keys shows without a public key', async () => {
      const f = await signIn.seed()
      const id = await signIn.minted(f)
      const document = {
        type: 'public_key',
        api_key_id: id,
        name: `Sign-in key ${id.slice(0, 8)}`,
        status: 'pending',
        pod_id: f.id,
        inbox_id: f.inbox,
        permissions: { app_share_owner: true, app_connect: true },
        created_by: { api_key_id: f.creator },
        expires_at: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      }
      expect(await signIn.shown(f, id)).toEqual(document)
      for (const path of ['/v0', `/v0/pods/${f.id}`, `/v0/inboxes/${f.inbox}`]) {
        expect((await f.api.get(`${path}/api-keys?type=public_key`)).body['api_keys']).toEqual([document])
      }
      expect((await f.api.get('/v0/api-keys?type=bearer')).body['api_keys']).toHaveLength(1)
    })

    it.each([
      ['both', { app_connect: true, app_share_owner: true, inbox_read: true }],
      ['app_connect only', { app_connect: true, inbox_read: true }],
    ])('copies of its creator %s, as they are at that moment', async (_what, permissions) => {
      const f = await signIn.seed()
      const { id: created_by } = await signIn.bearer(f, permissions)
      const { inbox_read: _, ...copied } = permissions
      const given = signIn.request(f, { created_by })
      expect(await signIn.mint(given)).toEqual({ outcome: 'minted', app_share_owner: 'app_share_owner' in permissions })
      expect((await signIn.shown(f, given.api_key_id))['permissions']).toEqual(copied)
    })

    it('makes one key of repeated calls, and none of an id whose key was deleted', async () => {
      const f = await signIn.seed()
      const given = signIn.request(f)
      const answers = await Promise.all(Array.from({ length: 10 }, () => signIn.mint(given)))
      expect(answers).toEqual(Array(10).fill({ outcome: 'minted', app_share_owner: true }))
      expect(await signIn.gateway.db.orm.countedSignInKey.count({ where: { createdBy: f.creator } })).toBe(1)
      expect(await signIn.cancel(given.api_key_id)).toEqual({ cancelled: true })
      expect(await signIn.mint(given)).toEqual({ outcome: 'refused', because: 'creator' })
    })

    it('lives for five minutes at most', async () => {
      const f = await signIn.seed()
      const id = await signIn.minted(f, { expires_at: new Date(Date.now() + 86_400_000).toISOString() })
      const { expiresAt, createdAt } = await signIn.gateway.db.orm.credential.findUniqueOrThrow({ where: { id } })
      expect(Number(expiresAt) - Number(createdAt)).toBe(LIMITS.app.link)
    })

    it('refuses a creator that may not connect, and an inbox outside its reach', async () => {
      const [f, other] = [await signIn.seed(), await signIn.seed()]
      const weak = await signIn.bearer(f, { inbox_read: true, app_share_owner: true })
      const expired = await signIn.bearer(f, { app_connect: true })
      await signIn.expire(expired.id)
      const { body: sibling } = await f.api.post('/v0/inboxes')
      const elsewhere = await signIn.bearer(f, { app_connect: true }, `/v0/inboxes/${sibling['inbox_id']}/api-keys`)
      const refusedCreator = { outcome: 'refused', because: 'creator' }
      for (const created_by of [
        weak.id,
        expired.id,
        elsewhere.id,
        other.creator,
        randomUUID(),
        await signIn.minted(f),
      ]) {
        expect(await signIn.mint(signIn.request(f, { created_by }))).toEqual(refusedCreator)
      }
      for (const inbox_uid of [other.inboxUid, randomUUID()]) {
        expect(await signIn.mint(signIn.request(f, { inbox_uid }))).toEqual({ outcome: 'refused', because: 'inbox' })
      }
      await signIn.gateway.db.orm.organization.update({
        where: { id: f.id },
        data: { authenticationType: 'agent_unverified' },
      })
      expect(await signIn.mint(signIn.request(f))).toEqual(refusedCreator)
    })

    it('allows five pending keys of a creator under fifty parallel calls, until one of them goes', async () => {
      const f = await signIn.seed()
      const requests = Array.from({ length: 50 }, () => signIn.request(f))
      const answers = await Promise.all(requests.map((given) => signIn.mint(given)))
      expect(answers.filter(({ outcome }) => outcome === 'minted')).toHaveLength(LIMITS.app.pendingKeys)
      const refusals = answers.filter((answer) => answer.outcome === 'limited')
      expect(refusals).toHaveLength(45)
      expect(refusals[0]).toEqual({ outcome: 'limited', by: 'live_keys', retry_after: expect.any(Number) })
      expect(Math.max(...refusals.map(({ retry_after }) => retry_after))).toBeLessThanOrEqual(240)
      const index = answers.findIndex(({ outcome }) => outcome === 'minted')
      expect(await signIn.cancel(requests[index]?.api_key_id ?? '')).toEqual({ cancelled: true })
      await signIn.minted(f)
    })

    it('allows twenty keys an hour of a creator, and a hundred of an organization', async () => {
      const f = await signIn.seed()
      const count = (createdBy: string, keys: number) => signIn.gateway.db.query(COUNT, f.id, createdBy, keys)
      await count(f.creator, 19)
      await signIn.minted(f)
      expect(await signIn.mint(signIn.request(f))).toMatchObject({ outcome: 'limited', by: 'key_per_hour' })
      const { id: created_by } = await signIn.bearer(f, { app_connect: true })
      await count(randomUUID(), 79)
      await signIn.minted(f, { created_by })
      const beyond = await signIn.mint(signIn.request(f, { created_by }))
      expect(beyond).toEqual({ outcome: 'limited', by: 'organization_per_hour', retry_after: expect.any(Number) })
      expect(beyond.outcome === 'limited' && beyond.retry_after).toBeGreaterThan(3_500)
      await signIn.gateway.db.query(AGE, f.creator, '61 min')
      await signIn.minted(f)
    })

    it('counts as a key of the organization', async () => {
      const f = await signIn.seed()
      await signIn.gateway.operator.setLimits(f.id, { keys: 1 })
      expect(await signIn.mint(signIn.request(f))).toMatchObject({ outcome: 'limited', by: 'keys_of_organization' })
    })
  })

  describe('activateSignInKey', () => {
    it('gives the key its public key and thirty days, once, and repeats its answer', async () => {
      const f = await signIn.seed()
      const id = await signIn.minted(f)
      const { jwk } = newKey()
      const first = await signIn.activate(id, jwk)
      const days = (new Date(first.outcome === 'activated' ? first.expires_at : 0).getTime() - Date.now()) / 86_400_000
      expect(days).toBeCloseTo(30, 2)
      expect(await signIn.activate(id, jwk)).toEqual(first)
      expect(await signIn.activate(id)).toEqual({ outcome: 'gone' })
      expect(await signIn.shown(f, id)).toMatchObject({
        status: 'active',
        public_key: { jwk, fingerprint: await calculateJwkThumbprint({ ...jwk }) },
      })
    })

    it('refuses a key that another credential has, whichever family', async () => {
      const f = await signIn.seed()
      const { jwk } = newKey()
      await f.api.post('/v0/api-keys', { public_key: jwk })
      const ids = [await signIn.minted(f), await signIn.minted(f), await signIn.minted(f)]
      expect(await signIn.activate(ids[0] ?? '', jwk)).toEqual({ outcome: 'used' })
      const shared = newKey().jwk
      const answers = await Promise.all(ids.map((id) => signIn.activate(id, shared)))
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['activated', 'used', 'used'])
    })

    it('finds no key that is unknown, cancelled, expired or of another family', async () => {
      const f = await signIn.seed()
      const [cancelled, expired] = [await signIn.minted(f), await signIn.minted(f)]
      await signIn.cancel(cancelled)
      await signIn.expire(expired)
      for (const id of [randomUUID(), cancelled, expired, f.creator]) {
        expect(await signIn.activate(id)).toEqual({ outcome: 'gone' })
      }
    })

    it('activates twenty keys of a creator in a UTC day', async () => {
      await lastingPeriod(86_400_000)
      const f = await signIn.seed()
      await signIn.gateway.db.query(COUNT_ACTIVE, f.id, f.creator, 19)
      await signIn.active(f)
      const id = await signIn.minted(f)
      const answer = await signIn.activate(id)
      expect(answer).toEqual({ outcome: 'limited', retry_after: expect.any(Number) })
      expect(answer.outcome === 'limited' && answer.retry_after).toBeLessThanOrEqual(86_400)
      await signIn.gateway.db.query(AGE, f.creator, '1 day')
      expect(await signIn.activate(id)).toMatchObject({ outcome: 'activated' })
    })
  })

  it('cancels a key only while it is pending', async () => {
    const f = await signIn.seed()
    const { id } = await signIn.active(f)
    expect(await signIn.cancel(id)).toEqual({ cancelled: false })
    expect(await signIn.cancel(randomUUID())).toEqual({ cancelled: false })
    expect(await signIn.shown(f, id)).toMatchObject({ status: 'active' })
  })
})
