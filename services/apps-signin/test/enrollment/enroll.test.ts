import { randomUUID } from 'node:crypto'
import { countRows, queryRows } from '@restante/testkit'
import { Browser, type BrowserKey, finishBody, makeKey } from '../support/browser.ts'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'
import { makeTenant } from '../support/tenant.ts'
import { beginSignIn } from '../support/waiting.ts'

let fixture: AppsSigninFixture

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())
afterEach(() => {
  fixture.gateway.answers = {}
})

async function link(settings: Parameters<AppsSigninFixture['app']>[0] = {}) {
  const tenant = makeTenant(fixture)
  const inbox = tenant.inbox()
  const app = await fixture.app(settings)
  const { body } = await fixture.call('apps.connect', tenant.inInbox(inbox), { params: { app_id: app.app_id } })
  const path = new URL(String(body['magic_url'])).pathname
  return { tenant, inbox, app, path, ticket: path.slice('/connect/'.length), keyId: String(body['api_key_id']) }
}

async function started() {
  const scene = await link()
  const browser = new Browser(fixture.authBase)
  const { body } = await browser.call('/v0/enroll/start', { ticket: scene.ticket })
  return { ...scene, browser, begun: body, key: await makeKey() }
}

const finish = (browser: Browser, body: unknown) => browser.call('/v0/enroll/finish', body)
const activations = () => fixture.gateway.requests('gateway.activateSignInKey').length

describe('the page of a magic link', () => {
  it('uses nothing up, and leads on to where the app begins a sign-in', async () => {
    const { path, inbox, ticket } = await link()
    const browser = new Browser(fixture.authBase)
    for (const _ of [1, 2]) {
      const { status, text } = await browser.get(path)
      expect(status).toBe(200)
      const login = `https://app.example/login?iss=${encodeURIComponent(fixture.authBase)}&amp;login_hint=${encodeURIComponent(inbox.address)}`
      expect(text).toContain(login)
    }
    expect((await browser.call('/v0/enroll/start', { ticket })).status).toBe(200)
    expect((await browser.get(path)).status).toBe(410)
    expect((await browser.get(`/connect/${'A'.repeat(43)}`)).status).toBe(410)
  })

  it('keeps the query with which an app has registered its page', async () => {
    const { path } = await link({ initiate_login_uri: 'https://app.example/login?from=a%20b' })
    const { text } = await new Browser(fixture.authBase).get(path)
    expect(text).toContain('https://app.example/login?from=a%20b&amp;iss=')
  })
})

describe('the start of an enrollment', () => {
  it('uses a ticket once among a hundred starts', async () => {
    const { ticket, keyId, inbox, app } = await link()
    const browser = new Browser(fixture.authBase)
    const many = await Promise.all(Array.from({ length: 100 }, () => browser.callAgain('/v0/enroll/start', { ticket })))
    const [won, ...others] = many.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    expect(many.filter(({ status }) => status === 410)).toHaveLength(99)
    expect(won?.body).toEqual({
      enrollment_id: expect.any(String),
      api_key_id: keyId,
      inbox_id: inbox.address,
      app: { name: app.name, host: 'app.example' },
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      expires_at: expect.any(String),
    })
    const [cookie = ''] = won?.headers.getSetCookie() ?? []
    expect(cookie).toMatch(
      /^__Host-enroll-[0-9a-f]{8}=[\w-]{43}; Path=\/; Max-Age=300; Secure; HttpOnly; SameSite=Lax$/,
    )
    const rows = await queryRows(fixture.db, 'select * from enrollments')
    expect(JSON.stringify(rows)).not.toContain(cookie.slice(23, 66))
  })

  it('uses nothing up when the key was cancelled, the link expired, or the gateway cannot be asked', async () => {
    const [cancelled, expired, unlucky] = [await link(), await link(), await link()]
    const browser = new Browser(fixture.authBase)
    fixture.gateway.credentials.delete(cancelled.keyId)
    expect((await browser.call('/v0/enroll/start', { ticket: cancelled.ticket })).status).toBe(410)
    await queryRows(fixture.db, 'update tickets set expires_at = now() where api_key_id = $1', expired.keyId)
    expect((await browser.call('/v0/enroll/start', { ticket: expired.ticket })).status).toBe(410)
    fixture.gateway.answers = {
      'gateway.getSignInFacts': () => {
        throw new Error('no answer')
      },
    }
    const outage = browser.call('/v0/enroll/start', { ticket: unlucky.ticket })
    expect((await outage).status).toBe(503)
    fixture.gateway.answers = {}
    expect((await browser.call('/v0/enroll/start', { ticket: unlucky.ticket })).status).toBe(200)
  })

  it('obeys only our own page', async () => {
    const { ticket } = await link()
    const browser = new Browser(fixture.authBase)
    const refused: [Record<string, string>, number][] = [
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: '' }, 403],
      [{ 'content-type': 'text/plain' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ]
    for (const [headers, status] of refused) {
      expect((await browser.call('/v0/enroll/start', { ticket }, headers)).status).toBe(status)
    }
    for (const body of [{}, { ticket, jti: 'x' }, { ticket, more: 1 }, [ticket]]) {
      expect((await browser.call('/v0/enroll/start', body)).status).toBe(400)
    }
    expect((await browser.call('/v0/enroll/start', { ticket })).status).toBe(200)
  })
})

describe('the end of an enrollment', () => {
  it('activates the proven key, and repeats the answer that was lost', async () => {
    const { browser, begun, key, keyId } = await started()
    const body = await finishBody(fixture.authBase, begun, key)
    for (const _ of [1, 2]) expect((await finish(browser, body)).status).toBe(204)
    expect(fixture.gateway.credentials.get(keyId)).toMatchObject({ status: 'active', jwk: key.jwk })
  })

  it('keeps two enrollments of one browser apart', async () => {
    const [one, two] = [await link(), await link()]
    const browser = new Browser(fixture.authBase)
    const first = await browser.call('/v0/enroll/start', { ticket: one.ticket })
    const second = await browser.call('/v0/enroll/start', { ticket: two.ticket })
    expect(browser.cookies.size).toBe(2)
    for (const { body } of [first, second]) {
      expect((await finish(browser, await finishBody(fixture.authBase, body, await makeKey()))).status).toBe(204)
    }
  })

  it('refuses a browser without the cookie, with a forged one, and with one beside it', async () => {
    const { browser, begun, key } = await started()
    const body = await finishBody(fixture.authBase, begun, key)
    const stranger = new Browser(fixture.authBase)
    const before = activations()
    expect((await finish(stranger, body)).status).toBe(401)
    const [name = '', value = ''] = [...browser.cookies][0] ?? []
    stranger.cookies.set(name, 'A'.repeat(43))
    expect((await finish(stranger, body)).status).toBe(401)
    stranger.cookies.set(name, `${value}; ${name}=${'A'.repeat(43)}`)
    expect((await finish(stranger, body)).status).toBe(401)
    expect((await browser.call('/v0/enroll/finish', body, { origin: 'https://evil.example' })).status).toBe(403)
    expect(activations()).toBe(before)
    expect((await finish(browser, body)).status).toBe(204)
  })

  it('gives one key to a hundred browsers keys at once', async () => {
    const { browser, begun, keyId } = await started()
    const keys = await Promise.all(Array.from({ length: 100 }, makeKey))
    // The gateway decides, as the real one does: the first key is kept.
    fixture.gateway.answers = {
      'gateway.activateSignInKey': ({ api_key_id, jwk }) => {
        const known = fixture.gateway.credentials.get(api_key_id)
        if (known === undefined || (known.jwk && known.jwk.x !== jwk.x)) return { outcome: 'gone' }
        fixture.gateway.credentials.set(api_key_id, { ...known, status: 'active', jwk })
        return { outcome: 'activated', expires_at: new Date().toISOString() }
      },
    }
    const bodies = await Promise.all(keys.map((key) => finishBody(fixture.authBase, begun, key)))
    const answers = await Promise.all(bodies.map((body) => browser.callAgain('/v0/enroll/finish', body)))
    const winners = keys.filter((_, index) => answers[index]?.status === 204)
    expect(winners.map((key) => key.jwk)).toEqual([fixture.gateway.credentials.get(keyId)?.jwk])
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(99)
  })

  type Forge = (begun: Record<string, unknown>, key: BrowserKey) => Promise<Record<string, unknown>>
  const proofOf =
    (overrides: object): Forge =>
    (begun, key) =>
      finishBody(fixture.authBase, begun, key, { ...overrides })
  const signed =
    (header: object): Forge =>
    async (begun, key) => {
      const { enrollment_id, challenge, inbox_id, api_key_id } = begun
      const payload = { challenge, enrollment_id, inbox_id, aud: fixture.authBase }
      const usual = { typ: 'signin-enroll+jwt', kid: String(api_key_id) }
      const proof = await key.sign({ ...usual, ...header }, payload)
      return { enrollment_id, public_key: key.jwk, proof }
    }
  const forged: [string, number, Forge][] = [
    ['another challenge', 401, proofOf({ challenge: 'A'.repeat(43) })],
    [
      'another enrollment',
      401,
      async (begun, key) => ({ ...(await proofOf({ enrollment_id: randomUUID() })(begun, key)) }),
    ],
    ['another inbox', 401, proofOf({ inbox_id: 'other@restante.test' })],
    ['another audience', 401, proofOf({ aud: 'https://evil.example' })],
    ['one claim more', 400, proofOf({ iat: 1 })],
    ['another key id', 401, signed({ kid: randomUUID() })],
    ['another type', 401, signed({ typ: 'signin+jwt' })],
    ['one header more', 401, signed({ jku: 'https://evil.example' })],
    [
      'the signature of another key',
      401,
      async (begun, key) => {
        const other = await finishBody(fixture.authBase, begun, await makeKey())
        return { ...other, public_key: key.jwk }
      },
    ],
    [
      'no proof',
      400,
      async (begun, key) => ({ enrollment_id: begun['enrollment_id'], public_key: key.jwk, proof: 'x' }),
    ],
    [
      'a private part',
      400,
      async (begun, key) => {
        const body = await finishBody(fixture.authBase, begun, key)
        return { ...body, public_key: { ...key.jwk, d: 'A'.repeat(43) } }
      },
    ],
    [
      'a point off the curve',
      400,
      async (begun, key) => {
        const body = await finishBody(fixture.authBase, begun, key)
        return { ...body, public_key: { ...key.jwk, x: 'A'.repeat(43) } }
      },
    ],
    ['one member more', 400, async (begun, key) => ({ ...(await finishBody(fixture.authBase, begun, key)), more: 1 })],
  ]
  it.each(forged)('refuses %s', async (_, status, forge) => {
    const { browser, begun, key } = await started()
    const before = activations()
    expect((await finish(browser, await forge(begun, key))).status).toBe(status)
    expect(activations()).toBe(before)
  })

  it('passes on what the gateway refuses', async () => {
    const { browser, begun, key } = await started()
    const body = await finishBody(fixture.authBase, begun, key)
    const outcomes = [
      [{ outcome: 'used' }, 409],
      [{ outcome: 'gone' }, 410],
      [{ outcome: 'limited', retry_after: 60 }, 429],
    ] as const
    for (const [outcome, status] of outcomes) {
      fixture.gateway.answers = { 'gateway.activateSignInKey': () => outcome }
      const answer = await finish(browser, body)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('retry-after')).toBe(status === 429 ? '60' : null)
    }
    fixture.gateway.answers = {}
    await queryRows(fixture.db, 'update enrollments set expires_at = now() where id = $1', body.enrollment_id)
    expect((await finish(browser, body)).status).toBe(410)
  })
})

describe('a sign-in that waits in a browser', () => {
  async function authorized() {
    const tenant = makeTenant(fixture)
    const inbox = tenant.inbox()
    const app = await fixture.app()
    const { transaction, browser } = await beginSignIn(fixture, app)
    const { jti, auth_token } = transaction
    const state = async () => (await browser.call('/v0/enroll/status', { jti })).body['state']
    const authorize = () => fixture.call('apps.authorize', tenant.inInbox(inbox), { body: { auth_token } })
    return { inbox, jti, browser, state, authorize }
  }

  it('learns of its agent, enrolls again after a reload, and waits once it is enrolled', async () => {
    const { jti, browser, state, authorize, inbox } = await authorized()
    expect(await state()).toBe('waiting')
    expect((await browser.call('/v0/enroll/start', { jti })).status).toBe(409)
    const { body } = await authorize()
    expect(await state()).toBe('enroll')
    await browser.call('/v0/enroll/start', { jti })
    const { status, body: begun } = await browser.call('/v0/enroll/start', { jti })
    expect([status, begun['api_key_id'], begun['inbox_id']]).toEqual([200, body['api_key_id'], inbox.address])
    expect((await finish(browser, await finishBody(fixture.authBase, begun, await makeKey()))).status).toBe(204)
    expect(await state()).toBe('waiting')
    expect((await browser.call('/v0/enroll/start', { jti })).status).toBe(410)
    expect(await countRows(fixture.db, 'enrollments where jti = $1', jti)).toBe(1)
    await queryRows(fixture.db, 'update transactions set expires_at = now() where jti = $1', jti)
    expect(await state()).toBe('ended')
    expect((await browser.call('/v0/enroll/start', { jti })).status).toBe(410)
  })

  it('answers no other browser', async () => {
    const { jti, authorize } = await authorized()
    await authorize()
    const stranger = new Browser(fixture.authBase)
    for (const path of ['/v0/enroll/status', '/v0/enroll/start']) {
      expect((await stranger.call(path, { jti })).status).toBe(401)
    }
  })
})
