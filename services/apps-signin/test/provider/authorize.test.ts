import { countRows } from '@restante/testkit'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { locationOf, RelyingParty } from '../support/relying-party.ts'

let fixture: AppsSigninFixture
let app: TestApp
let party: RelyingParty

beforeAll(async () => {
  fixture = await startAppsSignin()
  app = await fixture.app({ redirect_uris: ['https://app.example/callback', 'https://app.example/with?fixed=1'] })
})
afterAll(() => fixture.stop())
beforeEach(() => {
  party = new RelyingParty(fixture, app)
})

describe('an authorization request', () => {
  it('begins a sign-in that is bound to its browser by a cookie', async () => {
    const { status, headers, text } = await party.authorize()
    expect(status).toBe(200)
    expect(headers.get('set-cookie')).toMatch(
      /^__Host-tx-[0-9a-f]{8}=[\w-]{43}; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/,
    )
    expect(text).toContain('agentid_session_required')
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('may be a form, too', async () => {
    const { status, text } = await party.post('/v0/authorize', party.query())
    expect([status, text.includes('agentid_session_required')]).toEqual([200, true])
    expect((await party.post('/v0/authorize', '{}', { 'content-type': 'application/json' })).status).toBe(400)
  })

  it('is never redirected with a wrong client_id or redirect_uri', async () => {
    const { redirectUri } = party
    const queries = [
      party.query({ client_id: undefined }),
      party.query({ client_id: '00000000-0000-4000-8000-000000000000' }),
      party.query({ client_id: app.client_id.toUpperCase() }),
      party.query({ client_id: 'http://open.example/' }),
      party.query({ client_id: '\u0000' }),
      `${party.query()}&client_id=${app.client_id}`,
      party.query({ redirect_uri: undefined }),
      `${party.query()}&redirect_uri=${encodeURIComponent(redirectUri)}`,
      ...[
        `${redirectUri}/`,
        `${redirectUri}?x=1`,
        `${redirectUri}#fragment`,
        `${redirectUri}%2f..`,
        `${redirectUri}/../callback`,
        'https://app.example/CALLBACK',
        'https://APP.example/callback',
        'https://app.example:443/callback',
        'https://app.example@attacker.example/callback',
        'https://app.example.attacker.example/callback',
        'https://app.example\\@attacker.example/callback',
        'http://app.example/callback',
        'http://localhost:1/callback',
        ' https://app.example/callback',
        'https://app.example/callback\n',
        'javascript:alert(1)',
        '//app.example/callback',
      ].map((redirect_uri) => party.query({ redirect_uri })),
    ]
    const before = await countRows(fixture.db, 'transactions')
    for (const query of queries) {
      const { status, headers, text } = await party.browser.get(`/v0/authorize?${query}`)
      expect([query, status, headers.get('location'), headers.get('set-cookie')]).toEqual([query, 400, null, null])
      expect(headers.get('content-type')).toContain('text/html')
      expect(text).not.toContain('attacker')
    }
    expect(await countRows(fixture.db, 'transactions')).toBe(before)
  })

  it.each([
    ['invalid_request', { response_type: undefined }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code id_token' }],
    ['invalid_request', { response_mode: 'form_post' }],
    ['invalid_request', { code_challenge: undefined }],
    ['invalid_request', { code_challenge: 'x'.repeat(42) }],
    ['invalid_request', { code_challenge: `${'x'.repeat(42)}=` }],
    ['invalid_request', { code_challenge_method: undefined }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { prompt: 'login' }],
    ['invalid_request', { prompt: 'none consent' }],
    ['invalid_request', { nonce: 'x'.repeat(257) }],
    ['invalid_request', { nonce: '\u0000' }],
    ['invalid_request', { login_hint: 'x'.repeat(321) }],
    ['invalid_scope', { scope: undefined }],
    ['invalid_scope', { scope: 'email' }],
    ['invalid_scope', { scope: 'openid owner_email' }],
    ['invalid_scope', { scope: 'openid owner_profile' }],
    ['request_not_supported', { request: 'a.b.c' }],
    ['request_uri_not_supported', { request_uri: 'https://attacker.example' }],
  ])('answers the app with %s for %j', async (error, overrides) => {
    const location = locationOf(await party.authorize(overrides))
    expect(`${location.origin}${location.pathname}`).toBe(party.redirectUri)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'the state',
      iss: fixture.authBase,
    })
  })

  it('answers the app without a state that it did not send once, or that is too long', async () => {
    const repeated = locationOf(await party.browser.get(`/v0/authorize?${party.query()}&state=other`))
    expect(repeated.searchParams.get('error')).toBe('invalid_request')
    expect(repeated.searchParams.has('state')).toBe(false)
    for (const state of ['x'.repeat(513), 'é']) {
      const location = locationOf(await party.authorize({ state }))
      expect([location.searchParams.get('error'), location.searchParams.has('state')]).toEqual([
        'invalid_request',
        false,
      ])
    }
  })

  it('is refused when any parameter is sent twice', async () => {
    for (const name of ['scope', 'nonce', 'code_challenge', 'response_type', 'prompt', 'unknown', 'a"b\\']) {
      const query = `${party.query({ [name]: 'x' })}&${encodeURIComponent(name)}=y`
      expect(locationOf(await party.browser.get(`/v0/authorize?${query}`)).searchParams.get('error')).toBe(
        'invalid_request',
      )
    }
  })

  it('keeps the query of a registered redirect URI', async () => {
    const { href } = locationOf(await party.authorize({ redirect_uri: 'https://app.example/with?fixed=1', scope: 'x' }))
    expect(href).toMatch(/^https:\/\/app\.example\/with\?fixed=1&error=invalid_scope&/)
  })

  it('ignores unknown scopes, parameters, and scopes of the inbox that the app may not ask for', async () => {
    const limited = await fixture.app({ scopes: ['openid'] })
    const other = new RelyingParty(fixture, limited)
    const jti = await other.begin({
      scope: 'openid email offline_access x',
      max_age: '1',
      acr_values: 'x',
      display: 'page',
    })
    expect(await countRows(fixture.db, "transactions where jti = $1 and scopes = '{openid}'", jti)).toBe(1)
  })

  it('accepts open clients at their own origin, where the operator lets them', async () => {
    const open = { client_id: 'https://open.example/app', redirect_uri: 'https://open.example/back' }
    expect((await party.authorize(open)).status).toBe(200)
    expect((await party.authorize({ ...open, redirect_uri: 'https://other.example/' })).status).toBe(400)
    const owner = locationOf(await party.authorize({ ...open, scope: 'openid owner_email' }))
    expect(owner.searchParams.get('error')).toBe('invalid_scope')
  })

  it('is refused to unknown methods, also HEAD, and addresses', async () => {
    const head = await fetch(`${fixture.authBase}/v0/authorize?${party.query()}`, { method: 'HEAD' })
    expect([head.status, head.headers.get('set-cookie')]).toEqual([405, null])
    expect((await fetch(`${fixture.authBase}/v0/authorize`, { method: 'DELETE' })).status).toBe(405)
    const nothing = await party.browser.get('/v0/inboxes')
    expect([nothing.status, nothing.headers.get('content-type')]).toEqual([404, expect.stringContaining('text/html')])
  })
})

describe('the documents of the provider', () => {
  it('say what apps 6.1 lists, at both addresses', async () => {
    const { authBase } = fixture
    const { status, body, headers } = await party.browser.get('/.well-known/openid-configuration')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(body).toMatchObject({
      issuer: authBase,
      authorization_endpoint: `${authBase}/v0/authorize`,
      token_endpoint: `${authBase}/v0/token`,
      userinfo_endpoint: `${authBase}/v0/userinfo`,
      jwks_uri: `${authBase}/v0/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: ['ES256'],
      subject_types_supported: ['public'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      authorization_response_iss_parameter_supported: true,
      prompt_values_supported: ['none', 'consent'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      scopes_supported: ['openid', 'email', 'profile', 'owner_profile', 'owner_email'],
    })
    expect((await party.browser.get('/.well-known/oauth-authorization-server')).body).toEqual(body)
  })
})
