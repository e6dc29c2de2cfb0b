import { countRows, queryRows } from '@restante/testkit'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { allow, digest, makeSigner, RelyingParty, type Signer } from '../support/relying-party.ts'

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
