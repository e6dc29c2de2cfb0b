import { PERMISSIONS } from '@restante/contracts/access'
import { sql } from '@restante/service/database'
import { waitFor } from '@restante/testkit'
import type { Api } from '../gateway.ts'
import { askSigned } from '../signatures/signing.ts'
import { SignIn } from './sign-in.ts'

const MAKE_DUE = sql<never>("update timers set due_at = now() where kind = 'pending-sign-in-keys'")

describe('sign-in keys among the other keys', () => {
  let signIn: SignIn

  beforeAll(async () => {
    signIn = await SignIn.start()
  })
  afterAll(() => signIn.stop())

  it('take a name and their two permissions from an update, never more than the patching key holds', async () => {
    const f = await signIn.seed()
    const plain = await signIn.bearer(f, { app_connect: true, inbox_read: true, api_key_update: true })
    const { id } = await signIn.active(f, { created_by: plain.id })
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
    expect((await signIn.facts(id)).credential).toMatchObject({ app_connect: false, app_share_owner: true })
  })

  it('never authenticate a request', async () => {
    const f = await signIn.seed()
    const { id, privateKey } = await signIn.active(f)
    const signed = { keyId: id, privateKey, method: 'GET', path: '/v0/auth/me' } as const
    expect((await askSigned(signIn.gateway.url, signed)).status).toBe(401)
    expect((await signIn.gateway.as(id).get('/v0/auth/me')).status).toBe(401)
  })

  it('outlive their creator, and are deleted by themselves, with their inbox and with their organization', async () => {
    const f = await signIn.seed()
    const { id: created_by } = await signIn.bearer(f, { app_connect: true })
    const pending = await signIn.minted(f, { created_by })
    const { id } = await signIn.active(f, { created_by })
    expect((await f.api.delete(`/v0/api-keys/${created_by}`)).status).toBe(204)
    expect(await signIn.activate(pending)).toMatchObject({ outcome: 'activated' })
    expect((await f.api.delete(`/v0/api-keys/${pending}`)).status).toBe(204)
    expect(await signIn.facts(pending)).toEqual({})
    expect((await f.api.delete(`/v0/inboxes/${f.inbox}`)).status).toBe(204)
    expect(await signIn.facts(id)).toEqual({})

    const other = await signIn.seed()
    const last = await signIn.active(other)
    await signIn.gateway.operator.deleteOrganization(other.id)
    expect(await signIn.facts(last.id)).toEqual({})
  })

  it('end with the sign-up that their creator comes from', async () => {
    const f = await signIn.seed()
    await signIn.gateway.db.orm.credential.update({ where: { id: f.creator }, data: { signUp: true } })
    const id = await signIn.minted(f)
    // What a later sign-up of the same human revokes.
    const replaced = { organizationId: f.id, signUp: true }
    const rows = await signIn.gateway.db.orm.credential.findMany({ where: replaced, select: { id: true } })
    expect(rows.map((row) => row.id).sort()).toEqual([f.creator, id].sort())
  })

  it('are published with their status, and recorded in the audit log', async () => {
    const f = await signIn.seed()
    const { id } = await signIn.active(f)
    const events = (await signIn.gateway.events(f.id)).filter(({ subject }) => subject === id)
    expect(events.map(({ payload }) => [payload['type'], payload['sign_in_status'], payload['version']])).toEqual([
      ['public_key', 'pending', 1],
      ['public_key', 'active', 2],
    ])
    const entries = await signIn.gateway.db.orm.auditEntry.findMany({
      where: { credentialId: id },
      orderBy: { position: 'asc' },
    })
    expect(entries.map(({ action, actorId }) => [action, actorId])).toEqual([
      ['credential.created', f.creator],
      ['credential.changed', 'sign-in'],
    ])
  })

  it('are deleted soon after they expired without a proof', async () => {
    const f = await signIn.seed()
    const [expired, pending] = [await signIn.minted(f), await signIn.minted(f)]
    await signIn.expire(expired)
    await signIn.gateway.db.query(MAKE_DUE)
    const isGone = async () => (await f.api.get(`/v0/api-keys/${expired}`)).status === 404
    await waitFor(isGone, { what: 'the deletion of the expired key' })
    expect(await signIn.shown(f, pending)).toMatchObject({ status: 'pending' })
    expect((await signIn.gateway.events(f.id)).at(-1)).toMatchObject({ type: 'credential.deleted', subject: expired })
  })
})
