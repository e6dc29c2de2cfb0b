import { countRows, queryRows } from '@restante/testkit'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { allow, locationOf, makeSigner, RelyingParty, type Signer } from '../support/relying-party.ts'
import { signIn } from '../support/sign-ins.ts'

let fixture: AppsSigninFixture
let app: TestApp
let party: RelyingParty
let signer: Signer

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  app = await fixture.app()
  party = new RelyingParty(fixture, app)
  signer = await makeSigner(fixture)
  await allow(fixture, app, signer)
})

const expire = (jti: string) =>
  queryRows(fixture.db, "update transactions set expires_at = now() - interval '1 second' where jti = $1", jti)

describe('the proof of a sign-in key', () => {
  it('leads to a code for the app, with the state and the issuer', async () => {
    const jti = await party.begin()
    const { status, body } = await party.sign(signer, jti)
    expect([status, body]).toEqual([200, { next: `${fixture.authBase}/v0/authorize/continue?jti=${jti}` }])
    const gone = await party.goOn(jti)
    const location = locationOf(gone)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'the state',
      iss: fixture.authBase,
    })
    expect(gone.headers.get('referrer-policy')).toBe('no-referrer')
    const code = location.searchParams.get('code') ?? ''
    expect(JSON.stringify(await queryRows(fixture.db, 'select * from codes where jti = $1', jti))).not.toContain(code)
  })

  it('counts once, of many at once, and gives one code to many tabs', async () => {
    const jti = await party.begin()
    const signed = await Promise.all(Array.from({ length: 20 }, () => party.sign(signer, jti)))
    expect(signed.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(signed.filter(({ status }) => status === 409)).toHaveLength(19)
    const tabs = await Promise.all(Array.from({ length: 20 }, () => party.goOn(jti)))
    expect(tabs.filter(({ status }) => status === 302)).toHaveLength(1)
    expect(await countRows(fixture.db, 'codes where jti = $1', jti)).toBe(1)
  })

  it('is refused for another sign-in, app, address or inbox than it was made for', async () => {
    const jti = await party.begin()
    const other = await party.begin()
    const claims = [
      { jti: other },
      { client_id: 'another' },
      { redirect_uri_hash: 'another' },
      { inbox_id: (await makeSigner(fixture)).inbox.address },
      { inbox_id: signer.inbox.address.toUpperCase() },
    ]
    for (const overrides of claims) {
      const assertion = await party.assertion(signer, jti, overrides)
      const { status } = await party.browser.call('/v0/authorize/sign', { jti, assertion })
      expect([overrides, status]).toEqual([overrides, 401])
    }
    expect(await countRows(fixture.db, 'transactions where jti = $1 and approved_at is null', jti)).toBe(1)
  })

  it('is refused to a key that is pending, registered, unknown or of another inbox', async () => {
    const jti = await party.begin()
    const others = [
      await makeSigner(fixture, { status: 'pending' }),
      await makeSigner(fixture, { family: 'registered' }),
      await makeSigner(fixture, { expires_at: new Date(0).toISOString() }),
      { ...signer, key: (await makeSigner(fixture)).key },
      { ...signer, inbox: signer.tenant.inbox() },
    ]
    for (const other of others) expect((await party.sign(other, jti)).status).toBe(401)
  })

  it('is refused to another browser, another site, and any other form of call', async () => {
    const jti = await party.begin()
    const assertion = await party.assertion(signer, jti)
    const stranger = new RelyingParty(fixture, app)
    await stranger.begin()
    expect((await stranger.browser.call('/v0/authorize/sign', { jti, assertion })).status).toBe(401)
    const [name = '', value = ''] = [...party.browser.cookies][0] ?? []
    stranger.browser.cookies.set(
      name,
      value.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')),
    )
    expect((await stranger.browser.call('/v0/authorize/sign', { jti, assertion })).status).toBe(401)
    const call = (headers: Record<string, string>, body: object = { jti, assertion }) =>
      party.browser.call('/v0/authorize/sign', body, headers)
    expect((await call({ origin: 'https://attacker.example' })).status).toBe(403)
    expect((await call({ origin: 'null' })).status).toBe(403)
    expect((await call({ origin: '' })).status).toBe(403)
    expect((await call({ 'content-type': 'text/plain' })).status).toBe(415)
    expect((await call({}, { jti, assertion, more: 1 })).status).toBe(400)
    expect((await call({}, { jti, assertion: 'x' })).status).toBe(400)
    expect((await call({})).status).toBe(200)
  })

  it('comes too late for a sign-in that has expired, and not for another inbox than its hint', async () => {
    const jti = await party.begin()
    await expire(jti)
    expect((await party.sign(signer, jti)).status).toBe(410)
    expect((await party.goOn(jti)).status).toBe(410)
    const hinted = await party.begin({ login_hint: 'other@restante.test' })
    expect((await party.sign(signer, hinted)).status).toBe(403)
    const fitting = await party.begin({ login_hint: signer.inbox.address.toUpperCase() })
    expect((await party.sign(signer, fitting)).status).toBe(200)
  })
})

describe('a sign-in that goes on', () => {
  it('shows the waiting page until it is decided, to its browser only', async () => {
    const jti = await party.begin()
    const { status, text } = await party.goOn(jti)
    expect([status, text.includes('agentid_session_required')]).toEqual([200, true])
    const stranger = new RelyingParty(fixture, app)
    expect((await stranger.goOn(jti)).status).toBe(401)
    expect((await party.goOn('x'.repeat(22))).status).toBe(401)
  })

  it('asks before anything is shared for the first time, and then for the code', async () => {
    const other = await fixture.app()
    const first = new RelyingParty(fixture, other)
    const jti = await first.begin()
    await first.sign(signer, jti)
    const { status, text } = await first.goOn(jti)
    expect([status, text.includes(signer.inbox.address)]).toEqual([200, true])
    const [, shown = ''] = /data-shown="([\w-]{43})"/.exec(text) ?? []
    const { body } = await first.browser.call('/v0/authorize/consent', { jti, allow: true, shown })
    const location = locationOf(await first.browser.get(String(body['location'])))
    expect(location.searchParams.get('code')).toMatch(/^[\w-]{43}$/)
  })

  it('ends with login_required or consent_required where it may not ask', async () => {
    const silent = await party.begin({ prompt: 'none' })
    const decline = () => party.browser.call('/v0/authorize/decline', { jti: silent, reason: 'no_key' })
    const [declined, repeated] = [await decline(), await decline()]
    expect(declined.status).toBe(200)
    expect(repeated.body).toEqual(declined.body)
    expect(new URL(String(declined.body['location'])).searchParams.get('error')).toBe('login_required')
    expect((await party.signIn(signer, { prompt: 'none' })).searchParams.has('code')).toBe(true)
    const first = new RelyingParty(fixture, await fixture.app())
    expect((await first.signIn(signer, { prompt: 'none' })).searchParams.get('error')).toBe('consent_required')
    const jti = await party.begin()
    expect((await party.browser.call('/v0/authorize/decline', { jti, reason: 'no_key' })).status).toBe(400)
  })

  it.each([
    ['its key was deleted', () => fixture.gateway.credentials.delete(signer.credential.api_key_id)],
    [
      'its key lost app_connect',
      () => fixture.gateway.credentials.set(signer.credential.api_key_id, { ...signer.credential, app_connect: false }),
    ],
    ['its inbox was deleted', () => fixture.gateway.inboxes.delete(signer.inbox.inbox_uid)],
    ['its organization is suspended', () => fixture.gateway.organizations.set(signer.tenant.id, 'suspended')],
    ['its organization is not verified', () => fixture.gateway.organizations.set(signer.tenant.id, 'unverified')],
  ])('ends with access_denied when %s after the proof', async (_, change) => {
    const jti = await party.begin()
    await party.sign(signer, jti)
    change()
    const { searchParams } = locationOf(await party.goOn(jti))
    expect(Object.fromEntries(searchParams)).toEqual({
      error: 'access_denied',
      state: 'the state',
      iss: fixture.authBase,
    })
    expect(locationOf(await party.goOn(jti)).searchParams.get('error')).toBe('access_denied')
  })

  it('ends with access_denied for a disabled account, and tells the app of the sign-up limit', async () => {
    const account = await signIn(fixture, app.client_id, signer.inbox)
    await queryRows(fixture.db, 'update accounts set disabled_at = now() where id = $1', account.id)
    expect((await party.signIn(signer)).searchParams.get('error')).toBe('access_denied')
    const full = await fixture.app({ owner_signup_limit: 0 })
    const { searchParams } = await new RelyingParty(fixture, full).signIn(signer)
    expect([searchParams.get('error'), searchParams.get('error_description')]).toEqual([
      'access_denied',
      'signup_limit',
    ])
  })

  it('is not sent to an app that was removed, or has given the address up', async () => {
    const jti = await party.begin()
    await party.sign(signer, jti)
    const settings = { redirect_uris: ['https://app.example/moved'] }
    await fixture.internal('apps-signin.updateApp', { app_id: app.app_id, settings, operator: 'tester' })
    expect((await party.goOn(jti)).status).toBe(410)
    const other = new RelyingParty(fixture, { ...app, redirect_uris: settings.redirect_uris })
    const second = await other.begin()
    await other.sign(signer, second)
    await fixture.internal('apps-signin.removeApp', { app_id: app.app_id, operator: 'tester' })
    expect((await other.goOn(second)).status).toBe(410)
  })

  it('admits no more inboxes of an organization than its limit, of many at once', async () => {
    const limited = await fixture.app({ owner_signup_limit: 3 })
    const parties = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const each = await makeSigner(fixture, {}, signer.tenant)
        await allow(fixture, limited, each)
        return { each, party: new RelyingParty(fixture, limited) }
      }),
    )
    const locations = await Promise.all(parties.map(({ each, party: one }) => one.signIn(each)))
    expect(locations.filter(({ searchParams }) => searchParams.has('code'))).toHaveLength(3)
  })
})
