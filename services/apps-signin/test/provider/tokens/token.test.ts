import { countRows, Metrics, queryRows } from '@restante/testkit'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { register } from 'prom-client'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../../support/fixture.ts'
import { allow, digest, makeSigner, RelyingParty, type Signer } from '../../support/relying-party.ts'

let fixture: AppsSigninFixture
beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())

interface Scene {
  readonly app: TestApp
  readonly signer: Signer
  readonly party: RelyingParty
}

async function scene(settings: Parameters<AppsSigninFixture['app']>[0] = {}): Promise<Scene> {
  const app = await fixture.app(settings)
  const signer = await makeSigner(fixture)
  await allow(fixture, app, signer)
  return { app, signer, party: new RelyingParty(fixture, app) }
}

describe('the exchange of a code', () => {
  it('gives tokens for UserInfo and an ID token that the JWKS verifies', async () => {
    const { app, signer, party } = await scene()
    const { status, body, headers } = await party.exchange(await party.code(signer))
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600, scope: 'openid email' })
    const keys = createRemoteJWKSet(new URL('/v0/jwks.json', fixture.authBase))
    const { payload, protectedHeader } = await jwtVerify(String(body['id_token']), keys, {
      issuer: fixture.authBase,
      audience: app.client_id,
      algorithms: ['ES256'],
    })
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.stringMatching(/^[\w-]{43}$/) })
    const { iat = 0 } = payload
    expect(payload).toEqual({
      iss: fixture.authBase,
      aud: app.client_id,
      sub: expect.stringMatching(/^[\w-]{43}$/),
      actor_type: 'agent',
      email: signer.inbox.address,
      email_verified: true,
      nonce: 'the nonce',
      org: signer.inbox.organization_id,
      scope: 'openid email',
      jti: expect.any(String),
      at_hash: Buffer.from(digest(String(body['access_token'])), 'base64url')
        .subarray(0, 16)
        .toString('base64url'),
      auth_time: expect.any(Number),
      iat,
      exp: iat + 600,
    })
    const info = await party.userInfo(body['access_token'])
    const { sub } = payload
    expect(info.body).toEqual({ sub, actor_type: 'agent', email: signer.inbox.address, email_verified: true })
  })

  it('is the use of the key, which loading pages before is not', async () => {
    const { signer, party } = await scene()
    const id = signer.credential.api_key_id
    const code = await party.code(signer)
    expect(fixture.gateway.used).not.toContain(id)
    await party.exchange(code)
    expect(fixture.gateway.used.filter((used) => used === id)).toHaveLength(1)
  })

  it('gives one token set among a hundred exchanges at once, and records one sign-in', async () => {
    const { app, signer, party } = await scene()
    const code = await party.code(signer)
    const all = await Promise.all(Array.from({ length: 100 }, () => party.exchange(code)))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await countRows(fixture.db, 'access_tokens where client_id = $1', app.client_id)).toBe(1)
    const [account] = await queryRows(fixture.db, 'select sign_in_count from accounts where app_id = $1', app.app_id)
    expect(account).toEqual({ sign_in_count: 1 })
  })
})

const OUTCOMES = ['started', 'code', 'exchanged', 'invalid_grant'] as const

/** Sign-ins of the process by outcome. */
async function counts(): Promise<(number | undefined)[]> {
  const metrics = new Metrics(await register.metrics())
  return OUTCOMES.map((outcome) => metrics.value('restante_sign_ins_total', { outcome }))
}

describe('a code', () => {
  it.each([
    ['another redirect URI', { redirect_uri: 'https://app.example/other' }],
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['another code', { code: 'x'.repeat(43) }],
    ['a malformed code', { code: 'x' }],
  ])('is invalid with %s, and stays good for its own request', async (_, overrides) => {
    const { signer, party } = await scene()
    const code = await party.code(signer)
    const { status, body } = await party.exchange(code, overrides)
    expect([status, body]).toEqual([400, { error: 'invalid_grant', error_description: expect.any(String) }])
    expect((await party.exchange(code)).status).toBe(200)
  })

  it('is invalid for another app', async () => {
    const { signer, party } = await scene()
    const other = await scene()
    const code = await party.code(signer)
    expect((await party.exchange(code, {}, other.party.basic())).body['error']).toBe('invalid_grant')
    expect((await party.exchange(code)).status).toBe(200)
  })

  it('is invalid after a minute', async () => {
    const { app, signer, party } = await scene()
    const code = await party.code(signer)
    await queryRows(fixture.db, 'update codes set expires_at = now() where client_id = $1', app.client_id)
    expect((await party.exchange(code)).body['error']).toBe('invalid_grant')
  })

  it('revokes its token when it is sent a second time', async () => {
    const { signer, party } = await scene()
    const before = await counts()
    const code = await party.code(signer)
    const { body } = await party.exchange(code)
    expect((await party.userInfo(body['access_token'])).status).toBe(200)
    expect((await party.exchange(code)).body['error']).toBe('invalid_grant')
    expect((await party.userInfo(body['access_token'])).status).toBe(401)
    const after = await counts()
    expect(OUTCOMES.map((_, index) => (after[index] ?? 0) - (before[index] ?? 0))).toEqual([1, 1, 1, 1])
  })

  it.each([
    ['its key was deleted', ({ signer }: Scene) => fixture.gateway.credentials.delete(signer.credential.api_key_id)],
    ['its inbox was deleted', ({ signer }: Scene) => fixture.gateway.inboxes.delete(signer.inbox.inbox_uid)],
    [
      'its organization is suspended',
      ({ signer }: Scene) => fixture.gateway.organizations.set(signer.tenant.id, 'suspended'),
    ],
  ])('is invalid when %s meanwhile', async (_, change) => {
    const made = await scene()
    const code = await made.party.code(made.signer)
    change(made)
    expect((await made.party.exchange(code)).body['error']).toBe('invalid_grant')
  })

  it('is invalid when the account was disabled meanwhile, which leaves no token', async () => {
    const { app, signer, party } = await scene()
    await party.exchange(await party.code(signer))
    const code = await party.code(signer)
    await queryRows(fixture.db, 'update accounts set disabled_at = now() where app_id = $1', app.app_id)
    expect((await party.exchange(code)).body['error']).toBe('invalid_grant')
    expect(await countRows(fixture.db, 'access_tokens where client_id = $1', app.client_id)).toBe(1)
  })

  it('gives less when the app has lost a scope meanwhile, and nothing when the app was removed', async () => {
    const { app, signer, party } = await scene()
    const [code, later] = [await party.code(signer), await party.code(signer)]
    const settings = { scopes: ['openid'] }
    await fixture.internal('apps-signin.updateApp', { app_id: app.app_id, settings, operator: 'tester' })
    const { body } = await party.exchange(code)
    expect(body['scope']).toBe('openid')
    expect((await party.userInfo(body['access_token'])).body).not.toHaveProperty('email')
    await fixture.internal('apps-signin.removeApp', { app_id: app.app_id, operator: 'tester' })
    expect((await party.exchange(later)).body['error']).toBe('invalid_client')
    expect((await party.userInfo(body['access_token'])).status).toBe(401)
  })
})
