import { ServiceClient } from '@restante/service/http'
import { queryRows } from '@restante/testkit'
import { findClient } from '../../src/apps/find.ts'
import { askOwner } from '../../src/consents/ask-owner.ts'
import type { BoundTransaction } from '../../src/consents/bound.ts'
import { OwnerLinks } from '../../src/consents/owner-links.ts'
import { Browser } from '../support/browser.ts'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'
import { proveSignIn, returned } from '../support/proven.ts'
import { makeTenant, type Tenant } from '../support/tenant.ts'

let fixture: AppsSigninFixture

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())
afterEach(() => {
  fixture.gateway.answers = {}
})

const OWNER = { id: 'the owner', email: 'owner@example.com', name: 'Olga Owner' }

function ownedTenant(): Tenant {
  const tenant = makeTenant(fixture)
  fixture.gateway.owners.set(tenant.id, OWNER)
  return tenant
}

const appWithOwner = () => fixture.app({ scopes: ['openid', 'email', 'owner_profile', 'owner_email'] })

/** A sign-in that the person at the browser has allowed, with a key that may not share the owner. */
async function allowed(tenant = ownedTenant(), prompt: 'none' | null = null) {
  const begun = { scopes: ['openid', 'owner_profile', 'owner_email'], prompt } as const
  const signIn = await proveSignIn(fixture, { app: await appWithOwner(), tenant, begun })
  const page = await signIn.goOn()
  if (prompt === null) await signIn.answer(page, true)
  const state = async () => (await signIn.browser.call('/v0/enroll/status', { jti: signIn.jti })).body['state']
  return { ...signIn, page, state }
}

const mailsOf = (tenant: Tenant) => fixture.gateway.mails.filter((mail) => mail.organization_id === tenant.id)

function linkIn({ text }: { readonly text: string }): { readonly path: string; readonly token: string } {
  const [, token = ''] = /\/owner\/([\w-]{43})/.exec(text) ?? []
  return { path: `/owner/${token}`, token }
}

async function asked() {
  const signIn = await allowed()
  const waiting = await signIn.goOn()
  const [mail] = mailsOf(signIn.tenant)
  if (mail === undefined) throw new Error('the owner was not mailed')
  return { ...signIn, waiting, mail, link: linkIn(mail), owner: new Browser(fixture.authBase) }
}

describe('the approval of the human owner', () => {
  it('lets the sign-in wait, and shows the owner what the person at the browser does not see', async () => {
    const { page, waiting, mail, link, owner, state, app, goOn, tenant } = await asked()
    expect(page.text).not.toContain(OWNER.email)
    expect(page.text).not.toContain(OWNER.name)
    expect(waiting.status).toBe(200)
    expect(waiting.text).not.toContain(OWNER.email)
    for (const text of [app.name, OWNER.email, OWNER.name]) expect(mail.text).toContain(text)
    await goOn()
    expect(mailsOf(tenant)).toEqual([expect.objectContaining({ owner_id: OWNER.id })])
    expect(await state()).toBe('waiting')
    for (const _ of [1, 2]) {
      const shown = await owner.get(link.path)
      expect(shown.status).toBe(200)
      for (const text of [app.name, OWNER.email, OWNER.name]) expect(shown.text).toContain(text)
    }
    expect(await state()).toBe('waiting')
    expect((await owner.call('/owner/decide', { token: link.token, allow: true })).status).toBe(204)
    expect(await state()).toBe('approved')
    expect(returned(await goOn())).toHaveProperty('code')
  })

  it('is decided once', async () => {
    const { link, owner, jti } = await asked()
    const decide = (allow: boolean) => owner.call('/owner/decide', { token: link.token, allow })
    const answers = await Promise.all([decide(true), decide(true), decide(false)])
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted()).toEqual(statuses[2] === 204 ? [204, 409, 409] : [204, 204, 409])
    const rows = await queryRows<{ decision: string }>(
      fixture.db,
      'select decision from owner_approvals where jti = $1',
      jti,
    )
    expect(rows).toEqual([{ decision: statuses[2] === 204 ? 'refused' : 'allowed' }])
    expect((await owner.get(link.path)).status).toBe(200)
  })

  it('ends the sign-in with access_denied when the owner refuses', async () => {
    const { link, owner, state, goOn, jti } = await asked()
    for (const _ of [1, 2]) {
      expect((await owner.call('/owner/decide', { token: link.token, allow: false })).status).toBe(204)
    }
    expect((await owner.call('/owner/decide', { token: link.token, allow: true })).status).toBe(409)
    expect(await state()).toBe('ended')
    expect(returned(await goOn())).toMatchObject({ error: 'access_denied', error_description: 'owner_refused' })
    const event = await fixture.published.next(({ type, value }) => type === 'sign_in.refused' && value.includes(jti), {
      what: 'the refusal',
    })
    expect(JSON.parse(event.value)).toMatchObject({ reason: 'owner_refused' })
  })

  it('ends the sign-in with access_denied when nobody answers for 15 minutes', async () => {
    const { link, owner, state, goOn, jti } = await asked()
    const [left] = await queryRows<{ link: number; outlives: boolean }>(
      fixture.db,
      `select extract(epoch from o.expires_at - now())::int as link, t.expires_at > o.expires_at as outlives
         from owner_approvals o join transactions t using (jti) where jti = $1`,
      jti,
    )
    expect(left?.link).toBeGreaterThan(880)
    expect(left?.outlives).toBe(true)
    await queryRows(fixture.db, 'update owner_approvals set expires_at = now() where jti = $1', jti)
    expect((await owner.call('/owner/decide', { token: link.token, allow: true })).status).toBe(410)
    expect((await owner.get(link.path)).status).toBe(410)
    expect(await state()).toBe('approved')
    expect(returned(await goOn())).toMatchObject({ error: 'access_denied', error_description: 'owner_timeout' })
  })

  it('is not another human than the one who was asked', async () => {
    const { link, owner, goOn, tenant } = await asked()
    fixture.gateway.owners.set(tenant.id, { id: 'another', email: 'another@example.com' })
    expect((await owner.get(link.path)).status).toBe(410)
    expect((await owner.call('/owner/decide', { token: link.token, allow: true })).status).toBe(410)
    expect(returned(await goOn())).toMatchObject({ error_description: 'owner_unavailable' })
  })

  it('takes an answer only from our page', async () => {
    const { link, owner } = await asked()
    const body = { token: link.token, allow: true }
    expect((await owner.call('/owner/decide', body, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await owner.call('/owner/decide', body, { origin: '' })).status).toBe(403)
    expect((await owner.call('/owner/decide', { ...body, more: 1 })).status).toBe(400)
    expect((await owner.call('/owner/decide', { ...body, token: 'A'.repeat(43) })).status).toBe(410)
    expect((await owner.call('/owner/decide', body)).status).toBe(204)
  })

  it('cannot be had without a verified human, nor with prompt=none', async () => {
    const unowned = await proveSignIn(fixture, {
      app: await appWithOwner(),
      begun: { scopes: ['openid', 'owner_email'] },
      key: { app_share_owner: true },
    })
    expect(returned(await unowned.goOn())).toMatchObject({
      error: 'access_denied',
      error_description: 'owner_unavailable',
    })
    const silent = await allowed(ownedTenant(), 'none')
    expect(returned(silent.page)).toMatchObject({ error: 'consent_required' })
    expect(mailsOf(silent.tenant)).toEqual([])
  })

  it('is not needed with a key that may share the owner', async () => {
    const tenant = ownedTenant()
    const begun = { scopes: ['openid', 'owner_email'] } as const
    const signIn = await proveSignIn(fixture, {
      app: await appWithOwner(),
      tenant,
      begun,
      key: { app_share_owner: true },
    })
    const page = await signIn.goOn()
    expect(page.text).toContain(OWNER.email)
    await signIn.answer(page, true)
    expect(returned(await signIn.goOn())).toHaveProperty('code')
    expect(mailsOf(tenant)).toEqual([])
  })

  it('is still needed when the key gets the right after the page has said that the owner is asked', async () => {
    const { goOn, tenant, inbox } = await allowed()
    for (const [id, key] of fixture.gateway.credentials)
      if (key.inbox_uid === inbox.inbox_uid) fixture.gateway.credentials.set(id, { ...key, app_share_owner: true })
    const waiting = await goOn()
    expect([waiting.status, returned(waiting)]).toEqual([200, {}])
    expect(mailsOf(tenant)).toHaveLength(1)
  })

  it('counts when it is given while the browser goes on', async () => {
    const { jti, link, owner, app } = await asked()
    const [transaction] = await queryRows<BoundTransaction>(
      fixture.db,
      'select * from transactions where jti = $1 and owner_approved_at is null',
      jti,
    )
    const client = await findClient(fixture.db, app.client_id, { open: false })
    if (transaction === undefined || client === undefined) throw new Error('no sign-in waits')
    expect((await owner.call('/owner/decide', { token: link.token, allow: true })).status).toBe(204)
    const gateway = new ServiceClient({
      from: 'apps-signin',
      to: 'gateway',
      url: fixture.gateway.url,
      key: 'x'.repeat(32),
    })
    const links = new OwnerLinks({ authBase: fixture.authBase, secret: 'x'.repeat(32) })
    expect(await askOwner({ db: fixture.db, gateway, links }, { transaction, client, owner: OWNER })).toEqual({
      kind: 'allowed',
    })
    await gateway.stop()
  })

  it('repeats a mail that was interrupted with the same id and link, and none that was sent', async () => {
    const signIn = await allowed()
    const sent: string[] = []
    fixture.gateway.answers = {
      'gateway.mailHuman': ({ id, text }) => {
        sent.push(`${id} ${linkIn({ text }).token}`)
        throw new Error('the answer is lost')
      },
    }
    expect((await signIn.goOn()).status).toBe(503)
    fixture.gateway.answers = {}
    const [first, second] = await Promise.all([signIn.goOn(), signIn.goOn()])
    expect([first.status, second.status]).toEqual([200, 200])
    const mails = mailsOf(signIn.tenant).map(({ id, text }) => `${id} ${linkIn({ text }).token}`)
    expect(new Set([...sent, ...mails]).size).toBe(1)
  })

  it('mails the owner of an organization ten times an hour, whatever is deleted', async () => {
    const tenant = ownedTenant()
    const signIns = await Promise.all(Array.from({ length: 11 }, () => allowed(tenant)))
    const seen = await Promise.all(signIns.map(({ goOn }) => goOn()))
    expect(mailsOf(tenant)).toHaveLength(10)
    const refused = seen.filter(({ status }) => status === 302).map(returned)
    expect(refused).toEqual([expect.objectContaining({ error_description: 'owner_limit' })])
    await queryRows(fixture.db, 'delete from owner_approvals where organization_id = $1', tenant.id)
    expect(returned(await (await allowed(tenant)).goOn())).toMatchObject({ error_description: 'owner_limit' })
    await queryRows(fixture.db, `update owner_mails set created_at = now() - interval '61 minutes'`)
    expect((await (await allowed(tenant)).goOn()).status).toBe(200)
  })
})
