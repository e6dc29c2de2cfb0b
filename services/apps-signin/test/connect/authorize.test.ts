import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { countRows, queryRows } from '@restante/testkit'
import { end } from '../../src/transactions/steps.ts'
import { findTransaction } from '../../src/transactions/store.ts'
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

const authorize = (caller: Caller, auth_token: string, more: object = {}) =>
  fixture.call('apps.authorize', caller, {
    params: { inbox_id: caller.inbox?.address ?? '' },
    body: { auth_token, ...more },
  })

async function scene(
  begun: Parameters<typeof beginSignIn>[2] = {},
  settings: Parameters<AppsSigninFixture['app']>[0] = {},
) {
  const tenant = makeTenant(fixture)
  const inbox = tenant.inbox()
  const app = await fixture.app(settings)
  const { transaction, browser } = await beginSignIn(fixture, app, begun)
  return { tenant, inbox, app, transaction, browser, caller: tenant.inInbox(inbox, 'organization') }
}

const AT_TOKEN = { status: 400, body: { code: 'validation_error', errors: [{ path: ['auth_token'] }] } }
const minted = () => fixture.gateway.requests('gateway.mintSignInKey').length

describe('apps.authorize', () => {
  it('binds the sign-in and creates a key that does not outlive it', async () => {
    const { tenant, inbox, transaction, caller } = await scene()
    await queryRows(
      fixture.db,
      `update transactions set expires_at = now() + interval '1 minute' where jti = $1`,
      transaction.jti,
    )
    const { status, body } = await authorize(caller, transaction.auth_token)
    expect(status).toBe(200)
    const api_key_id = body['api_key_id']
    expect(body).toEqual({ api_key_id, instructions: 'Authorization complete. Return to browser.' })
    const bound = await findTransaction(fixture.db, transaction.jti)
    expect(bound).toMatchObject({
      organization_id: tenant.id,
      pod_id: tenant.id,
      inbox_uid: inbox.inbox_uid,
      address: inbox.address,
      api_key_id,
      credential_id: caller.credential.id,
    })
    const key = fixture.gateway.requests('gateway.mintSignInKey').at(-1)
    expect(key).toMatchObject({ api_key_id, created_by: caller.credential.id })
    expect(key?.expires_at).toBe(bound?.expires_at.toISOString())
  })

  it('answers a repeated request alike, with nothing new', async () => {
    const { transaction, caller, inbox } = await scene()
    const first = await authorize(caller, transaction.auth_token)
    const before = minted()
    const again = await authorize(caller, transaction.auth_token, { accept_disclosure: true })
    expect(again.body).toEqual(first.body)
    expect(again.status).toBe(200)
    expect(minted()).toBe(before)
    expect(await countRows(fixture.db, 'consents where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
  })

  it('leaves one key of requests at once', async () => {
    const { transaction, caller } = await scene()
    const many = await Promise.all(Array.from({ length: 20 }, () => authorize(caller, transaction.auth_token)))
    expect(new Set(many.map(({ status, body }) => `${status} ${body['api_key_id']}`)).size).toBe(1)
    const keys = fixture.gateway.requests('gateway.mintSignInKey')
    const created = keys.filter((key) => key.created_by === caller.credential.id).map((key) => key.api_key_id)
    // Around a full minute another id is created, and cancelled.
    const cancelled = new Set(fixture.gateway.requests('gateway.cancelSignInKey').map((key) => key.api_key_id))
    expect(new Set(created.filter((id) => !cancelled.has(id)))).toEqual(new Set([many[0]?.body['api_key_id']]))
  })

  it('repeats its answer when another key of the inbox has approved the sign-in', async () => {
    const { transaction, caller } = await scene()
    const first = await authorize(caller, transaction.auth_token)
    const approved = 'update transactions set api_key_id = $2, approved_at = now() where jti = $1'
    await queryRows(fixture.db, approved, transaction.jti, randomUUID())
    expect((await authorize(caller, transaction.auth_token)).body).toEqual(first.body)
  })

  it('binds a key that is good for minutes after a request that died', async () => {
    const { transaction, caller } = await scene()
    fixture.gateway.answers = {
      'gateway.mintSignInKey': () => {
        throw new Error('the answer is lost')
      },
    }
    expect((await authorize(caller, transaction.auth_token)).status).toBe(503)
    fixture.gateway.answers = {}
    const { status, body } = await authorize(caller, transaction.auth_token)
    const asked = fixture.gateway.requests('gateway.mintSignInKey').at(-1)
    expect([status, body['api_key_id']]).toEqual([200, asked?.api_key_id])
    expect(Date.parse(asked?.expires_at ?? '')).toBeGreaterThan(Date.now() + 4 * 60_000)
  })

  it('refuses tokens that are unknown, expired or finished', async () => {
    const { caller } = await scene()
    const [expired, finished] = [await scene(), await scene()]
    await queryRows(fixture.db, 'update transactions set expires_at = now() where jti = $1', expired.transaction.jti)
    await fixture.db.transaction((tx) => end(tx, { jti: finished.transaction.jti, outcome: 'access_denied' }))
    for (const token of ['A'.repeat(22), expired.transaction.auth_token, finished.transaction.auth_token]) {
      expect(await authorize(caller, token)).toMatchObject(AT_TOKEN)
    }
    expect(await authorize(caller, 'short')).toMatchObject(AT_TOKEN)
    expect(await authorize(caller, 'A'.repeat(129))).toMatchObject(AT_TOKEN)
  })

  it('lets only the inbox of the login hint, in any case, go on', async () => {
    const tenant = makeTenant(fixture)
    const inbox = tenant.inbox()
    const app = await fixture.app()
    const { transaction } = await beginSignIn(fixture, app, { loginHint: inbox.address.toUpperCase() })
    expect(await authorize(tenant.inInbox(tenant.inbox()), transaction.auth_token)).toMatchObject(AT_TOKEN)
    expect((await authorize(tenant.inInbox(inbox), transaction.auth_token)).status).toBe(200)
  })

  it('refuses a sign-in that is bound to another inbox or another key, and leaves no key behind', async () => {
    const { tenant, transaction, caller } = await scene()
    await authorize(caller, transaction.auth_token)
    const before = minted()
    const otherKey = { ...caller, credential: { ...caller.credential, id: randomUUID() } }
    expect(await authorize(otherKey, transaction.auth_token)).toMatchObject(AT_TOKEN)
    expect(await authorize(tenant.inInbox(tenant.inbox()), transaction.auth_token)).toMatchObject(AT_TOKEN)
    expect(minted()).toBe(before)
    const raced = await scene()
    const rival = { ...raced.caller, credential: { ...raced.caller.credential, id: randomUUID() } }
    const answers = await Promise.all([
      authorize(raced.caller, raced.transaction.auth_token),
      authorize(rival, raced.transaction.auth_token),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400])
    const left = [...fixture.gateway.credentials.values()].filter((key) => key.inbox_uid === raced.inbox.inbox_uid)
    expect(left.map((key) => key.api_key_id)).toEqual([
      answers.find(({ status }) => status === 200)?.body['api_key_id'],
    ])
  })

  it('demands app_share_owner to accept owner scopes in advance', async () => {
    const { transaction, caller, inbox, app } = await scene(
      { scopes: ['openid', 'owner_email'] },
      { scopes: ['openid', 'email', 'owner_email'] },
    )
    const limited = { ...caller, credential: { ...caller.credential, permissions: ['inbox_read'] } }
    const refused = await authorize(limited, transaction.auth_token, { accept_disclosure: true })
    expect(refused).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
    expect((await authorize(caller, transaction.auth_token, { accept_disclosure: true })).status).toBe(200)
    const rows = await queryRows(
      fixture.db,
      'select client_id, scopes, redirect_uri, given_by from consents where inbox_uid = $1',
      inbox.inbox_uid,
    )
    const { client_id, redirect_uris } = app
    const redirect_uri = redirect_uris[0]
    expect(rows).toEqual([{ client_id, scopes: ['openid', 'owner_email'], redirect_uri, given_by: 'agent' }])
  })

  it('shares nothing of the owner when the key loses that right while the request runs', async () => {
    const { transaction, caller, inbox } = await scene(
      { scopes: ['openid', 'owner_email'] },
      { scopes: ['openid', 'owner_email'] },
    )
    const cancelled: string[] = []
    fixture.gateway.answers = {
      'gateway.mintSignInKey': () => ({ outcome: 'minted', app_share_owner: false }),
      'gateway.cancelSignInKey': ({ api_key_id }) => ({ cancelled: cancelled.push(api_key_id) > 0 }),
    }
    const refused = await authorize(caller, transaction.auth_token, { accept_disclosure: true })
    fixture.gateway.answers = {}
    expect(refused).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
    expect(cancelled).toHaveLength(1)
    expect(await queryRows(fixture.db, 'select 1 from consents where inbox_uid = $1', inbox.inbox_uid)).toEqual([])
  })

  it('accepts nothing in advance for an app without a registration', async () => {
    const tenant = makeTenant(fixture)
    const open = { appId: null, clientId: 'https://open.example/app', redirectUri: 'https://open.example/back' }
    const { transaction } = await beginSignIn(fixture, await fixture.app(), open)
    const caller = tenant.inInbox(tenant.inbox())
    const refused = await authorize(caller, transaction.auth_token, { accept_disclosure: true })
    expect(refused).toMatchObject({ status: 404, body: { message: 'App not found' } })
    expect((await authorize(caller, transaction.auth_token)).status).toBe(200)
  })

  it('obeys the sign-up limit and the limits of keys', async () => {
    const { transaction, caller } = await scene({}, { owner_signup_limit: 0 })
    const paused = await authorize(caller, transaction.auth_token)
    expect(paused).toMatchObject({ status: 403, body: { name: 'AppSignupLimitError' } })
    fixture.gateway.answers = {
      'gateway.mintSignInKey': () => ({ outcome: 'limited', by: 'live_keys', retry_after: 3 }),
    }
    const free = await scene()
    const limited = await authorize(free.caller, free.transaction.auth_token)
    expect(limited).toMatchObject({ status: 429 })
    expect(limited.headers.get('retry-after')).toBe('3')
  })

  it('refuses keys of an organization whose human is not verified', async () => {
    const { transaction, caller } = await scene()
    const refused = await authorize({ ...caller, unverified: true }, transaction.auth_token)
    expect(refused).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
  })
})
