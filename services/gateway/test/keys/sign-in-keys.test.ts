import { randomUUID } from 'node:crypto'
import { PERMISSIONS } from '@restante/contracts/access'
import type { InternalRequestOf } from '@restante/contracts/internal'
import { LIMITS } from '@restante/contracts/vocabulary'
import { sql } from '@restante/service/database'
import { ServiceClient } from '@restante/service/http'
import { waitFor } from '@restante/testkit'
import { calculateJwkThumbprint } from 'jose'
import { type Api, PEER_KEY, startGateway, type TestGateway } from '../gateway.ts'
import { askSigned, newKey } from '../signatures/signing.ts'

type Minting = InternalRequestOf<'gateway.mintSignInKey'>
interface Fixture {
  readonly id: string
  readonly api: Api
  readonly inbox: string
  readonly inboxUid: string
  readonly creator: string
}

const EXPIRE = sql<never, [id: string]>("update credentials set expires_at = now() - interval '1 s' where id = $1")
const AGE = sql<never, [createdBy: string, by: string]>(
  'update counted_sign_in_keys set minted_at = minted_at - $2::interval, activated_at = activated_at - $2::interval where created_by = $1',
)
const ENFORCE = sql<never, [createdBy: string]>(
  "update credentials set expires_at = now() - interval '1 s' where created_by = $1 and sign_in_status = 'pending'",
)
const MAKE_DUE = sql<never>("update timers set due_at = now() where kind = 'pending-sign-in-keys'")

describe('sign-in keys', () => {
  let gateway: TestGateway
  let signIn: ServiceClient<'apps-signin'>
  let names = 0

  beforeAll(async () => {
    gateway = await startGateway({ CREDENTIAL_LIMIT: '150' })
    signIn = new ServiceClient({ from: 'apps-signin', to: 'gateway', url: gateway.url, key: PEER_KEY })
  })
  afterAll(async () => {
    await signIn.stop()
    await gateway.stop()
  })

  async function fixture(): Promise<Fixture> {
    const { id, api } = await gateway.organization()
    const { body } = await api.post('/v0/inboxes', { username: `bot-${names++}`, display_name: 'Bot' })
    const inbox = String(body['inbox_id'])
    const { uid: inboxUid } = await gateway.db.orm.inbox.findFirstOrThrow({ where: { address: inbox } })
    const me = await api.get('/v0/auth/me')
    return { id, api, inbox, inboxUid, creator: String(me.body['api_key_id']) }
  }

  /** A bearer key of its own, with these permissions. */
  async function bearer({ api }: Pick<Fixture, 'api'>, permissions: object, path = '/v0/api-keys') {
    const { body } = await api.post(path, { permissions })
    return { id: String(body['api_key_id']), api: gateway.as(String(body['api_key'])) }
  }

  const soon = () => new Date(Date.now() + 240_000).toISOString()
  const request = (f: Fixture, more: Partial<Minting> = {}): Minting => ({
    ...{ api_key_id: randomUUID(), organization_id: f.id, inbox_uid: f.inboxUid, created_by: f.creator },
    ...{ expires_at: soon(), ...more },
  })
  const mint = (given: Minting) => signIn.call('gateway.mintSignInKey', given)
  const activate = (api_key_id: string, jwk = newKey().jwk) =>
    signIn.call('gateway.activateSignInKey', { api_key_id, jwk })
  const cancel = (api_key_id: string) => signIn.call('gateway.cancelSignInKey', { api_key_id })
  const facts = (api_key_id: string, used = false) => signIn.call('gateway.getSignInFacts', { api_key_id, used })

  async function minted(f: Fixture, more: Partial<Minting> = {}): Promise<string> {
    const given = request(f, more)
    expect(await mint(given)).toMatchObject({ outcome: 'minted' })
    return given.api_key_id
  }
  async function active(f: Fixture, more: Partial<Minting> = {}) {
    const { jwk, privateKey } = newKey()
    const id = await minted(f, more)
    expect(await activate(id, jwk)).toMatchObject({ outcome: 'activated' })
    return { id, jwk, privateKey }
  }
  const shown = async ({ api }: Pick<Fixture, 'api'>, id: string) => (await api.get(`/v0/api-keys/${id}`)).body

  describe('mintSignInKey', () => {
    it('stores a pending key of one inbox, which every list of keys shows without a public key', async () => {
      const f = await fixture()
      const id = await minted(f)
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
      expect(await shown(f, id)).toEqual(document)
      for (const path of ['/v0', `/v0/pods/${f.id}`, `/v0/inboxes/${f.inbox}`]) {
        expect((await f.api.get(`${path}/api-keys?type=public_key`)).body['api_keys']).toEqual([document])
      }
      expect((await f.api.get('/v0/api-keys?type=bearer')).body['api_keys']).toHaveLength(1)
    })

    it.each([
      ['both', { app_connect: true, app_share_owner: true, inbox_read: true }],
      ['app_connect only', { app_connect: true, inbox_read: true }],
    ])('copies of its creator %s, as they are at that moment', async (_what, permissions) => {
      const f = await fixture()
      const { id: created_by } = await bearer(f, permissions)
      const { inbox_read: _, ...copied } = permissions
      const given = request(f, { created_by })
      expect(await mint(given)).toEqual({ outcome: 'minted', app_share_owner: 'app_share_owner' in permissions })
      expect((await shown(f, given.api_key_id))['permissions']).toEqual(copied)
    })

    it('makes one key of repeated calls, and none of an id whose key was deleted', async () => {
      const f = await fixture()
      const given = request(f)
      const answers = await Promise.all(Array.from({ length: 10 }, () => mint(given)))
      expect(answers).toEqual(Array(10).fill({ outcome: 'minted', app_share_owner: true }))
      expect(await gateway.db.orm.countedSignInKey.count({ where: { createdBy: f.creator } })).toBe(1)
      expect(await cancel(given.api_key_id)).toEqual({ cancelled: true })
      expect(await mint(given)).toEqual({ outcome: 'refused', because: 'creator' })
    })

    it('lives for five minutes at most', async () => {
      const f = await fixture()
      const id = await minted(f, { expires_at: new Date(Date.now() + 86_400_000).toISOString() })
      const { expiresAt, createdAt } = await gateway.db.orm.credential.findUniqueOrThrow({ where: { id } })
      expect(Number(expiresAt) - Number(createdAt)).toBe(LIMITS.app.link)
    })

    it('refuses a creator that may not connect, and an inbox outside its reach', async () => {
      const [f, other] = [await fixture(), await fixture()]
      const weak = await bearer(f, { inbox_read: true, app_share_owner: true })
      const expired = await bearer(f, { app_connect: true })
      await gateway.db.query(EXPIRE, expired.id)
      const { body: sibling } = await f.api.post('/v0/inboxes')
      const elsewhere = await bearer(f, { app_connect: true }, `/v0/inboxes/${sibling['inbox_id']}/api-keys`)
      const refusedCreator = { outcome: 'refused', because: 'creator' }
      for (const created_by of [weak.id, expired.id, elsewhere.id, other.creator, randomUUID(), await minted(f)]) {
        expect(await mint(request(f, { created_by }))).toEqual(refusedCreator)
      }
      for (const inbox_uid of [other.inboxUid, randomUUID()]) {
        expect(await mint(request(f, { inbox_uid }))).toEqual({ outcome: 'refused', because: 'inbox' })
      }
      await gateway.db.orm.organization.update({
        where: { id: f.id },
        data: { authenticationType: 'agent_unverified' },
      })
      expect(await mint(request(f))).toEqual(refusedCreator)
    })

    it('allows five pending keys of a creator under fifty parallel calls, until one of them goes', async () => {
      const f = await fixture()
      const requests = Array.from({ length: 50 }, () => request(f))
      const answers = await Promise.all(requests.map(mint))
      expect(answers.filter(({ outcome }) => outcome === 'minted')).toHaveLength(LIMITS.app.pendingKeys)
      const refusals = answers.filter((answer) => answer.outcome === 'limited')
      expect(refusals).toHaveLength(45)
      expect(refusals[0]).toEqual({ outcome: 'limited', by: 'live_keys', retry_after: expect.any(Number) })
      expect(Math.max(...refusals.map(({ retry_after }) => retry_after))).toBeLessThanOrEqual(240)
      const index = answers.findIndex(({ outcome }) => outcome === 'minted')
      expect(await cancel(requests[index]?.api_key_id ?? '')).toEqual({ cancelled: true })
      await minted(f)
    })

    it('allows twenty keys an hour of a creator, and a hundred of an organization', async () => {
      const f = await fixture()
      const fill = async (created_by: string, keys: number) => {
        for (let made = 0; made < keys; made++) {
          if (made % LIMITS.app.pendingKeys === 0) await gateway.db.query(ENFORCE, created_by)
          await minted(f, { created_by })
        }
        await gateway.db.query(ENFORCE, created_by)
      }
      await fill(f.creator, 20)
      expect(await mint(request(f))).toMatchObject({ outcome: 'limited', by: 'key_per_hour' })
      for (let creator = 0; creator < 4; creator++) await fill((await bearer(f, { app_connect: true })).id, 20)
      const { id: created_by } = await bearer(f, { app_connect: true })
      expect(await mint(request(f, { created_by }))).toMatchObject({ outcome: 'limited', by: 'organization_per_hour' })
      await gateway.db.query(AGE, f.creator, '61 min')
      await minted(f)
    })

    it('counts as a key of the organization', async () => {
      const f = await fixture()
      await gateway.operator.setLimits(f.id, { keys: 1 })
      expect(await mint(request(f))).toMatchObject({ outcome: 'limited', by: 'keys_of_organization' })
    })
  })

  describe('activateSignInKey', () => {
    it('gives the key its public key and thirty days, once, and repeats its answer', async () => {
      const f = await fixture()
      const id = await minted(f)
      const { jwk } = newKey()
      const first = await activate(id, jwk)
      const days = (new Date(first.outcome === 'activated' ? first.expires_at : 0).getTime() - Date.now()) / 86_400_000
      expect(days).toBeCloseTo(30, 2)
      expect(await activate(id, jwk)).toEqual(first)
      expect(await activate(id)).toEqual({ outcome: 'gone' })
      expect(await shown(f, id)).toMatchObject({
        status: 'active',
        public_key: { jwk, fingerprint: await calculateJwkThumbprint({ ...jwk }) },
      })
    })

    it('refuses a key that another credential has, whichever family', async () => {
      const f = await fixture()
      const { jwk } = newKey()
      await f.api.post('/v0/api-keys', { public_key: jwk })
      const ids = [await minted(f), await minted(f), await minted(f)]
      expect(await activate(ids[0] ?? '', jwk)).toEqual({ outcome: 'used' })
      const shared = newKey().jwk
      const answers = await Promise.all(ids.map((id) => activate(id, shared)))
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['activated', 'used', 'used'])
    })

    it('finds no key that is unknown, cancelled, expired or of another family', async () => {
      const f = await fixture()
      const [cancelled, expired] = [await minted(f), await minted(f)]
      await cancel(cancelled)
      await gateway.db.query(EXPIRE, expired)
      for (const id of [randomUUID(), cancelled, expired, f.creator]) {
        expect(await activate(id)).toEqual({ outcome: 'gone' })
      }
    })

    it('activates twenty keys of a creator in a UTC day', async () => {
      const f = await fixture()
      for (let made = 0; made < LIMITS.app.activationsPerDay; made++) await active(f)
      await gateway.db.query(AGE, f.creator, '61 min')
      await gateway.db.orm.countedSignInKey.updateMany({
        where: { createdBy: f.creator },
        data: { activatedAt: new Date() },
      })
      const id = await minted(f)
      const answer = await activate(id)
      expect(answer).toEqual({ outcome: 'limited', retry_after: expect.any(Number) })
      expect(answer.outcome === 'limited' && answer.retry_after).toBeLessThanOrEqual(86_400)
      await gateway.db.query(AGE, f.creator, '1 day')
      expect(await activate(id)).toMatchObject({ outcome: 'activated' })
    })
  })

  it('cancels a key only while it is pending', async () => {
    const f = await fixture()
    const { id } = await active(f)
    expect(await cancel(id)).toEqual({ cancelled: false })
    expect(await cancel(randomUUID())).toEqual({ cancelled: false })
    expect(await shown(f, id)).toMatchObject({ status: 'active' })
  })

  describe('getSignInFacts', () => {
    it('tells of a key, of its inbox, and nothing of one that is unknown, expired or a bearer key', async () => {
      const f = await fixture()
      const pending = await minted(f)
      const key = {
        ...{ api_key_id: pending, family: 'sign_in', status: 'pending', organization_id: f.id, pod_id: f.id },
        ...{ inbox_uid: f.inboxUid, app_connect: true, app_share_owner: true, created_by: f.creator },
        expires_at: expect.any(String),
      }
      expect(await facts(pending)).toEqual({ credential: key })
      const { id, jwk } = await active(f)
      expect((await facts(id)).credential).toEqual({ ...key, api_key_id: id, status: 'active', jwk })
      await gateway.db.query(EXPIRE, id)
      for (const gone of [id, randomUUID(), f.creator]) expect(await facts(gone)).toEqual({})
    })

    it('tells of a registered key with its scope', async () => {
      const f = await fixture()
      const { jwk } = newKey()
      const body = { public_key: jwk, permissions: { app_connect: true } }
      const { body: registered } = await f.api.post(`/v0/pods/${f.id}/api-keys`, body)
      const id = String(registered['api_key_id'])
      expect(await facts(id)).toEqual({
        credential: {
          ...{ api_key_id: id, family: 'registered', organization_id: f.id, pod_id: f.id, jwk },
          ...{ app_connect: true, app_share_owner: false, created_by: f.creator },
        },
      })
    })

    it('finds an inbox by address and by uid, with the state of its organization and its human', async () => {
      const f = await fixture()
      const inbox = {
        organization_id: f.id,
        pod_id: f.id,
        inbox_uid: f.inboxUid,
        address: f.inbox,
        display_name: 'Bot',
      }
      const ask = (asked: object) => signIn.call('gateway.getSignInFacts', { inbox: asked, used: false } as never)
      expect(await ask({ uid: f.inboxUid })).toEqual({ inbox, organization: 'active' })
      expect(await ask({ address: f.inbox.toUpperCase() })).toEqual({ inbox, organization: 'active' })
      await gateway.operator.setHuman(f.id, `ida+${f.id}@people.test`)
      const { owner } = await ask({ uid: f.inboxUid })
      expect(owner).toEqual({ id: expect.stringMatching(/^[\w-]{43}$/), email: `ida+${f.id}@people.test` })
      const other = await fixture()
      await gateway.operator.setHuman(other.id, `ida+${other.id}@people.test`)
      expect((await ask({ uid: other.inboxUid })).owner?.id).toBe(owner?.id)
      const data = { humanEmail: 'eve@people.test', humanName: 'Eve', status: 'suspended' }
      await gateway.db.orm.organization.update({ where: { id: other.id }, data })
      const changed = await ask({ uid: other.inboxUid })
      expect(changed).toMatchObject({ organization: 'suspended', owner: { email: 'eve@people.test', name: 'Eve' } })
      expect(changed.owner?.id).not.toBe(owner?.id)
      const unverified = { status: 'active', authenticationType: 'agent_unverified' }
      await gateway.db.orm.organization.update({ where: { id: other.id }, data: unverified })
      expect(await ask({ uid: other.inboxUid })).toEqual({ inbox: expect.anything(), organization: 'unverified' })
      await f.api.delete(`/v0/inboxes/${f.inbox}`)
      expect(await ask({ address: f.inbox })).toEqual({})
    })

    it('notes the use of a key at most once a minute', async () => {
      const f = await fixture()
      const { id } = await active(f)
      const usedAt = async () => (await shown(f, id))['used_at']
      await facts(id)
      expect(await usedAt()).toBeUndefined()
      await facts(id, true)
      const first = await usedAt()
      expect(first).toEqual(expect.any(String))
      await facts(id, true)
      expect(await usedAt()).toBe(first)
    })
  })

  describe('among the other keys', () => {
    it('take a name and their two permissions from an update, never more than the patching key holds', async () => {
      const f = await fixture()
      const plain = await bearer(f, { app_connect: true, inbox_read: true, api_key_update: true })
      const { id } = await active(f, { created_by: plain.id })
      const patch = (api: Api, body: unknown) => api.patch(`/v0/api-keys/${id}`, body)
      const foreign = PERMISSIONS.filter((name) => name !== 'app_connect' && name !== 'app_share_owner')
      for (const name of foreign) {
        expect(await patch(f.api, { permissions: { [name]: true } })).toMatchObject({
          status: 403,
          body: { code: 'forbidden' },
        })
      }
      expect((await patch(f.api, { permissions: null })).status).toBe(400)
      expect((await patch(plain.api, { permissions: { app_share_owner: true } })).body['code']).toBe(
        'permission_escalation',
      )
      const change = { name: 'Laptop', permissions: { app_share_owner: true, app_connect: false, inbox_read: false } }
      expect((await patch(f.api, change)).body).toMatchObject({
        name: 'Laptop',
        status: 'active',
        permissions: { app_share_owner: true },
      })
      expect((await facts(id)).credential).toMatchObject({ app_connect: false, app_share_owner: true })
    })

    it('never authenticate a request', async () => {
      const f = await fixture()
      const { id, privateKey } = await active(f)
      const signed = { keyId: id, privateKey, method: 'GET', path: '/v0/auth/me' } as const
      expect((await askSigned(gateway.url, signed)).status).toBe(401)
      expect((await gateway.as(id).get('/v0/auth/me')).status).toBe(401)
    })

    it('outlive their creator, and are deleted by themselves, with their inbox and with their organization', async () => {
      const f = await fixture()
      const { id: created_by } = await bearer(f, { app_connect: true })
      const pending = await minted(f, { created_by })
      const { id } = await active(f, { created_by })
      expect((await f.api.delete(`/v0/api-keys/${created_by}`)).status).toBe(204)
      expect(await activate(pending)).toMatchObject({ outcome: 'activated' })
      expect((await f.api.delete(`/v0/api-keys/${pending}`)).status).toBe(204)
      expect(await facts(pending)).toEqual({})
      expect((await f.api.delete(`/v0/inboxes/${f.inbox}`)).status).toBe(204)
      expect(await facts(id)).toEqual({})

      const other = await fixture()
      const last = await active(other)
      await gateway.operator.deleteOrganization(other.id)
      expect(await facts(last.id)).toEqual({})
    })

    it('are published with their status, and recorded in the audit log', async () => {
      const f = await fixture()
      const { id } = await active(f)
      const events = (await gateway.events(f.id)).filter(({ subject }) => subject === id)
      expect(events.map(({ payload }) => [payload['type'], payload['sign_in_status'], payload['version']])).toEqual([
        ['public_key', 'pending', 1],
        ['public_key', 'active', 2],
      ])
      const entries = await gateway.db.orm.auditEntry.findMany({
        where: { credentialId: id },
        orderBy: { position: 'asc' },
      })
      expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
        ['credential.created', f.creator],
        ['credential.changed', 'sign-in'],
      ])
    })

    it('are deleted soon after they expired without a proof', async () => {
      const f = await fixture()
      const [expired, pending] = [await minted(f), await minted(f)]
      await gateway.db.query(EXPIRE, expired)
      await gateway.db.query(MAKE_DUE)
      const isGone = async () => (await f.api.get(`/v0/api-keys/${expired}`)).status === 404
      await waitFor(isGone, { what: 'the deletion of the expired key' })
      expect(await shown(f, pending)).toMatchObject({ status: 'pending' })
      expect((await gateway.events(f.id)).at(-1)).toMatchObject({ type: 'credential.deleted', subject: expired })
    })
  })
})
