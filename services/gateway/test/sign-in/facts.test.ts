import { randomUUID } from 'node:crypto'
import { newKey } from '../signatures/signing.ts'
import { SignIn } from './sign-in.ts'

describe('gateway.getSignInFacts', () => {
  let signIn: SignIn

  beforeAll(async () => {
    signIn = await SignIn.start()
  })
  afterAll(() => signIn.stop())

  it('tells of a key, of its inbox, and nothing of one that is unknown, expired or a bearer key', async () => {
    const f = await signIn.seed()
    const pending = await signIn.minted(f)
    const key = {
      ...{ api_key_id: pending, family: 'sign_in', status: 'pending', organization_id: f.id, pod_id: f.id },
      ...{ inbox_uid: f.inboxUid, app_connect: true, app_share_owner: true, created_by: f.creator },
      expires_at: expect.any(String),
    }
    expect(await signIn.facts(pending)).toEqual({ credential: key })
    const { id, jwk } = await signIn.active(f)
    expect((await signIn.facts(id)).credential).toEqual({ ...key, api_key_id: id, status: 'active', jwk })
    await signIn.expire(id)
    for (const gone of [id, randomUUID(), f.creator]) expect(await signIn.facts(gone)).toEqual({})
  })

  it('tells of a registered key with its scope', async () => {
    const f = await signIn.seed()
    const { jwk } = newKey()
    const body = { public_key: jwk, permissions: { app_connect: true } }
    const { body: registered } = await f.api.post(`/v0/pods/${f.id}/api-keys`, body)
    const id = String(registered['api_key_id'])
    expect(await signIn.facts(id)).toEqual({
      credential: {
        ...{ api_key_id: id, family: 'registered', organization_id: f.id, pod_id: f.id, jwk },
        ...{ app_connect: true, app_share_owner: false, created_by: f.creator },
      },
    })
  })

  it('finds an inbox by address and by uid, with the state of its organization and its human', async () => {
    const f = await signIn.seed()
    const inbox = {
      organization_id: f.id,
      pod_id: f.id,
      inbox_uid: f.inboxUid,
      address: f.inbox,
      display_name: 'Bot',
    }
    const ask = (asked: object) => signIn.client.call('gateway.getSignInFacts', { inbox: asked, used: false } as never)
    expect(await ask({ uid: f.inboxUid })).toEqual({ inbox, organization: 'active' })
    expect(await ask({ address: f.inbox.toUpperCase() })).toEqual({ inbox, organization: 'active' })
    await signIn.gateway.operator.setHuman(f.id, `ida+${f.id}@people.test`)
    const { owner } = await ask({ uid: f.inboxUid })
    expect(owner).toEqual({ id: expect.stringMatching(/^[\w-]{43}$/), email: `ida+${f.id}@people.test` })
    const other = await signIn.seed()
    await signIn.gateway.operator.setHuman(other.id, `ida+${other.id}@people.test`)
    expect((await ask({ uid: other.inboxUid })).owner?.id).toBe(owner?.id)
    const data = { humanEmail: 'eve@people.test', humanName: 'Eve', status: 'suspended' }
    await signIn.gateway.db.orm.organization.update({ where: { id: other.id }, data })
    const changed = await ask({ uid: other.inboxUid })
    expect(changed).toMatchObject({ organization: 'suspended', owner: { email: 'eve@people.test', name: 'Eve' } })
    expect(changed.owner?.id).not.toBe(owner?.id)
    const unverified = { status: 'active', authenticationType: 'agent_unverified' }
    await signIn.gateway.db.orm.organization.update({ where: { id: other.id }, data: unverified })
    expect(await ask({ uid: other.inboxUid })).toEqual({ inbox: expect.anything(), organization: 'unverified' })
    await f.api.delete(`/v0/inboxes/${f.inbox}`)
    expect(await ask({ address: f.inbox })).toEqual({})
  })

  it('notes the use of a key at most once a minute', async () => {
    const f = await signIn.seed()
    const { id } = await signIn.active(f)
    const usedAt = async () => (await signIn.shown(f, id))['used_at']
    await signIn.facts(id)
    expect(await usedAt()).toBeUndefined()
    await signIn.facts(id, true)
    const first = await usedAt()
    expect(first).toEqual(expect.any(String))
    await signIn.facts(id, true)
    expect(await usedAt()).toBe(first)
  })
})
