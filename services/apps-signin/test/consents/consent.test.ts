import { countRows, queryRows } from '@restante/testkit'
import { Browser } from '../support/browser.ts'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'
import { type ProvenOptions, proveSignIn, returned, shownOn } from '../support/proven.ts'
import { makeTenant } from '../support/tenant.ts'

let fixture: AppsSigninFixture

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())

const prove = (options: ProvenOptions) => proveSignIn(fixture, options)
const eventOf = (jti: string, type: string) =>
  fixture.published.next((record) => record.type === type && record.value.includes(jti), { what: `${type} of ${jti}` })

describe('the consent page', () => {
  it('asks at the first use, and lets later sign-ins pass', async () => {
    const tenant = makeTenant(fixture)
    const first = await prove({ app: await fixture.app(), tenant })
    const page = await first.goOn()
    expect(page.status).toBe(200)
    expect(page.text).toContain(first.inbox.address)
    const { status, body } = await first.answer(page, true)
    expect([status, body['location']]).toEqual([200, `${fixture.authBase}/v0/authorize/continue?jti=${first.jti}`])
    // The answer was lost, and is sent again.
    expect((await first.answer(page, true)).status).toBe(200)
    expect(returned(await first.goOn())).toMatchObject({ code: expect.any(String), iss: fixture.authBase })
    expect((await first.answer(page, false)).status).toBe(401)
    expect(JSON.parse((await eventOf(first.jti, 'sign_in.approved')).value)).toMatchObject({ by: 'person' })
    const second = await prove({ app: first.app, tenant, inbox: first.inbox })
    expect(returned(await second.goOn())).toHaveProperty('code')
    const silent = await prove({ app: first.app, tenant, inbox: first.inbox, begun: { prompt: 'none' } })
    expect(returned(await silent.goOn())).toHaveProperty('code')
  })

  it('sends the browser back with access_denied after Deny, which is the last word', async () => {
    const denied = await prove({ app: await fixture.app(), begun: { state: 's 1' } })
    const page = await denied.goOn()
    for (const _ of [1, 2]) expect((await denied.answer(page, false)).status).toBe(200)
    expect(returned(await denied.goOn())).toEqual({
      error: 'access_denied',
      error_description: 'consent_denied',
      state: 's 1',
      iss: fixture.authBase,
    })
    expect((await denied.answer(page, true)).status).toBe(410)
    expect(JSON.parse((await eventOf(denied.jti, 'sign_in.refused')).value)).toMatchObject({ reason: 'consent_denied' })
    expect(await countRows(fixture.db, 'consents where inbox_uid = $1', denied.inbox.inbox_uid)).toBe(0)
  })

  it('does not ask with prompt=none, and answers consent_required', async () => {
    const silent = await prove({ app: await fixture.app(), begun: { prompt: 'none' } })
    expect(returned(await silent.goOn())).toMatchObject({ error: 'consent_required' })
  })

  it('asks again when the values, the terms or the owner have changed since the page was opened', async () => {
    const app = await fixture.app({ scopes: ['openid', 'email', 'profile', 'owner_email'], disclosure: 'Terms' })
    const tenant = makeTenant(fixture)
    fixture.gateway.owners.set(tenant.id, { id: 'first', email: 'first@example.com' })
    const begun = { scopes: ['openid', 'profile', 'owner_email'] } as const
    const asked = await prove({ app, tenant, begun, key: { app_share_owner: true } })
    const inbox = fixture.gateway.inboxes.get(asked.inbox.inbox_uid)
    const changes = [
      () => fixture.gateway.owners.set(tenant.id, { id: 'second', email: 'second@example.com' }),
      () => inbox && fixture.gateway.inboxes.set(inbox.inbox_uid, { ...inbox, display_name: 'Another name' }),
      () =>
        fixture.internal('apps-signin.updateApp', {
          app_id: app.app_id,
          settings: { disclosure: 'Other terms', disclosure_version: 2 },
          operator: 'tester',
        }),
    ]
    for (const change of changes) {
      const page = await asked.goOn()
      await change()
      expect((await asked.answer(page, true)).status).toBe(200)
      const again = await asked.goOn()
      expect(again.status).toBe(200)
      expect(shownOn(again)).not.toBe(shownOn(page))
    }
    const page = await asked.goOn()
    expect(page.text).toContain('second@example.com')
    await asked.answer(page, true)
    fixture.gateway.owners.set(tenant.id, { id: 'third', email: 'third@example.com' })
    expect(returned(await asked.goOn())).toMatchObject({
      error: 'access_denied',
      error_description: 'owner_unavailable',
    })
  })

  it('takes an answer only from our page in the browser of the sign-in', async () => {
    const asked = await prove({ app: await fixture.app() })
    const shown = shownOn(await asked.goOn())
    const body = { jti: asked.jti, allow: true, shown }
    const call = (browser: Browser, given: object, headers = {}) =>
      browser.call('/v0/authorize/consent', given, headers)
    expect((await call(new Browser(fixture.authBase), body)).status).toBe(401)
    const forger = new Browser(fixture.authBase)
    for (const [name] of asked.browser.cookies) forger.cookies.set(name, 'A'.repeat(43))
    expect((await call(forger, body)).status).toBe(401)
    expect((await call(asked.browser, body, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await call(asked.browser, body, { 'content-type': 'text/plain' })).status).toBe(415)
    for (const wrong of [
      { jti: asked.jti, shown },
      { ...body, allow: 'true' },
      { ...body, more: 1 },
    ]) {
      expect((await call(asked.browser, wrong)).status).toBe(400)
    }
    expect(await countRows(fixture.db, 'consents where inbox_uid = $1', asked.inbox.inbox_uid)).toBe(0)
    expect((await call(asked.browser, body)).status).toBe(200)
  })

  it('is skipped where an agent has accepted in advance, as long as the owner is the same', async () => {
    const app = await fixture.app({ scopes: ['openid', 'email', 'owner_email'] })
    const tenant = makeTenant(fixture)
    const inbox = tenant.inbox()
    fixture.gateway.owners.set(tenant.id, { id: 'first', email: 'first@example.com' })
    const body = { accept_disclosure: true }
    await fixture.call('apps.connect', tenant.inInbox(inbox), { params: { app_id: app.app_id }, body })
    const begun = { scopes: ['openid', 'owner_email'] } as const
    const key = { app_share_owner: true }
    const accepted = await prove({ app, tenant, inbox, begun, key })
    expect(returned(await accepted.goOn())).toHaveProperty('code')
    fixture.gateway.owners.set(tenant.id, { id: 'second', email: 'second@example.com' })
    const other = await prove({ app, tenant, inbox, begun, key })
    expect((await other.goOn()).text).toContain('second@example.com')
    await queryRows(fixture.db, `update consents set used_at = now() - interval '181 days'`)
    fixture.gateway.owners.set(tenant.id, { id: 'first', email: 'first@example.com' })
    const late = await prove({ app, tenant, inbox, begun, key })
    expect((await late.goOn()).status).toBe(200)
  })
})
