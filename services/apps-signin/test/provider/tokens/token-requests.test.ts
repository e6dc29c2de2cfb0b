import { LIMITS } from '@restante/contracts/vocabulary'
import { queryRows, waitFor } from '@restante/testkit'
import { countBeginning } from '../../../src/codes/rates.ts'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../../support/fixture.ts'
import { allow, digest, makeSigner, RelyingParty, type Signer } from '../../support/relying-party.ts'

let fixture: AppsSigninFixture
beforeAll(async () => {
  fixture = await startAppsSignin({ TRUSTED_PROXIES: '127.0.0.1,::1' })
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

describe('a token request', () => {
  it.each([
    ['unsupported_grant_type', { grant_type: 'refresh_token' }],
    ['invalid_request', { grant_type: undefined }],
    ['invalid_request', { code: undefined }],
    ['invalid_request', { redirect_uri: undefined }],
    ['invalid_request', { code_verifier: undefined }],
    ['invalid_request', { code_verifier: 'x'.repeat(42) }],
    ['invalid_request', { code_verifier: 'x'.repeat(129) }],
  ])('is answered with %s for %j', async (error, overrides) => {
    const { party } = await scene()
    const { status, body, headers } = await party.exchange('x'.repeat(43), overrides)
    expect([status, body['error'], headers.get('cache-control')]).toEqual([400, error, 'no-store'])
  })

  it('is a form with each parameter once', async () => {
    const { party } = await scene()
    const json = { ...party.basic(), 'content-type': 'application/json' }
    expect((await party.post('/v0/token', '{}', json)).body['error']).toBe('invalid_request')
    expect((await party.post('/v0/token', 'code=a&code=b', party.basic())).body['error']).toBe('invalid_request')
  })

  it.each(['client_secret_basic', 'client_secret_post', 'none'] as const)(
    'authenticates by %s only, where the app is registered so',
    async (method) => {
      const { app, signer, party } = await scene({ token_endpoint_auth_method: method })
      const { client_id, client_secret } = app
      const ways = {
        client_secret_basic: [{}, party.basic(client_secret || 'none')],
        client_secret_post: [{ client_id, client_secret: client_secret || 'none' }, {}],
        none: [{ client_id }, {}],
      } as const
      for (const [way, [form, headers]] of Object.entries(ways)) {
        const { status, body, headers: answered } = await party.exchange(await party.code(signer), form, headers)
        if (way === method) expect(status).toBe(200)
        else {
          expect([way, status, body['error']]).toEqual([way, 401, 'invalid_client'])
          expect(answered.get('www-authenticate')).toMatch(/^Basic /)
        }
      }
    },
  )

  it('is refused without a client, with an unknown or wrong one, and with two', async () => {
    const { app, party } = await scene()
    const { client_id, client_secret } = app
    const post = { client_id, client_secret }
    const wrong: [Record<string, string>, Record<string, string>][] = [
      [{}, {}],
      [{}, party.basic('wrong')],
      [{}, { authorization: 'Basic %%%' }],
      [{}, { authorization: `Bearer ${client_secret}` }],
      [{ client_id: '00000000-0000-4000-8000-000000000000' }, party.basic()],
      [post, party.basic()],
      [{ ...post, client_id: '00000000-0000-4000-8000-000000000000' }, {}],
    ]
    for (const [form, headers] of wrong) {
      const { status, body } = await party.exchange('x'.repeat(43), form, headers)
      expect([form, headers, status, body['error']]).toEqual([form, headers, 401, 'invalid_client'])
    }
  })

  it('accepts both secrets of an app, until one is removed', async () => {
    const { app, signer, party } = await scene()
    const added = await fixture.internal('apps-signin.addSecret', { app_id: app.app_id, operator: 'tester' })
    const second = String(added.body['client_secret'])
    for (const secret of [app.client_secret, second]) {
      expect((await party.exchange(await party.code(signer), {}, party.basic(secret))).status).toBe(200)
    }
    const secret_id = app.secrets[0]?.secret_id
    await fixture.internal('apps-signin.removeSecret', { app_id: app.app_id, secret_id, operator: 'tester' })
    expect((await party.exchange('x'.repeat(43), {}, party.basic())).status).toBe(401)
  })
})

describe('the rates of exchanges', () => {
  /** Waits for a minute that lasts, by the database's clock, so that the counts of a test are in one. */
  const freshMinute = () =>
    waitFor(
      async () => {
        const [row] = await queryRows<{ fresh: boolean }>(fixture.db, 'select extract(second from now()) < 45 as fresh')
        return row?.fresh
      },
      { what: 'a fresh minute' },
    )

  it('refuse a network after ten failures as one client, which harms no other client', async () => {
    const [one, other] = [await scene(), await scene()]
    await freshMinute()
    for (let count = 0; count < 10; count++) {
      expect((await one.party.exchange('x'.repeat(43), {}, one.party.basic('wrong'))).status).toBe(401)
    }
    const { status, headers, body } = await one.party.exchange('x'.repeat(43), {}, one.party.basic())
    expect([status, body['error']]).toEqual([429, 'temporarily_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await other.party.exchange(await other.party.code(other.signer))).status).toBe(200)
    expect(JSON.stringify(await queryRows(fixture.db, 'select subject from exchange_counts'))).not.toMatch(/127\.0|::1/)
  })

  it('begin only so many sign-ins from one network, which harms no other one', async () => {
    const { party } = await scene()
    const begin = (address: string) =>
      fetch(`${fixture.authBase}/v0/authorize?${party.query()}`, { headers: { 'x-forwarded-for': address } })
    await freshMinute()
    const { signInsPerMinute } = LIMITS.app
    await Promise.all(Array.from({ length: signInsPerMinute }, () => countBeginning(fixture.db, '192.0.2.7')))
    const refused = await begin('192.0.2.7')
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await begin('192.0.2.8')).status).toBe(200)
  })

  it('tell ten of fifty failures at once what was wrong', async () => {
    const { party } = await scene()
    await freshMinute()
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => party.exchange('x'.repeat(43), {}, party.basic('wrong'))),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(40)
  })

  it('let a stranger lock nobody out who exchanges from elsewhere, without a secret either', async () => {
    const { app, signer, party } = await scene({ token_endpoint_auth_method: 'none' })
    const { client_id } = app
    const from = (address: string) => ({ 'x-forwarded-for': address })
    await freshMinute()
    for (let count = 0; count < 10; count++) {
      expect((await party.exchange('x'.repeat(43), { client_id }, from('192.0.2.1'))).status).toBe(400)
    }
    expect((await party.exchange('x'.repeat(43), { client_id }, from('192.0.2.1'))).status).toBe(429)
    const code = await party.code(signer)
    expect((await party.exchange(code, { client_id }, from('192.0.2.2'))).status).toBe(200)
  })

  it('refuse the 61st exchange of a minute, whose code stays good', async () => {
    const { app, signer, party } = await scene()
    const [code, later] = [await party.code(signer), await party.code(signer)]
    await freshMinute()
    expect((await party.exchange(code)).status).toBe(200)
    const subject = digest(JSON.stringify(['client', app.client_id]))
    await queryRows(
      fixture.db,
      'update exchange_counts set exchanges = 60 where exchanges = 1 and subject = $1',
      subject,
    )
    expect((await party.exchange(later)).status).toBe(429)
    await queryRows(
      fixture.db,
      "update exchange_counts set minute = minute - interval '1 hour' where subject = $1",
      subject,
    )
    expect((await party.exchange(later)).status).toBe(200)
  })
})
