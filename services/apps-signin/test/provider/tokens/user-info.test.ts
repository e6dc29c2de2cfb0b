import type { SignInScope } from '@restante/contracts/vocabulary'
import { queryRows } from '@restante/testkit'
import { decodeJwt } from 'jose'
import { ownerHashOf } from '../../../src/consents/owner-hash.ts'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../../support/fixture.ts'
import { allow, makeSigner, RelyingParty, type Signer, seen } from '../../support/relying-party.ts'

const ALL: SignInScope[] = ['openid', 'email', 'profile', 'owner_profile', 'owner_email']
const OWNER = { id: 'the human', email: 'human@example.com', name: 'The Human' }
const NAMES = /^[\w-]{43}$/

let fixture: AppsSigninFixture
let app: TestApp
let party: RelyingParty

beforeAll(async () => {
  fixture = await startAppsSignin()
  app = await fixture.app({ scopes: ALL })
})
afterAll(() => fixture.stop())
beforeEach(() => {
  party = new RelyingParty(fixture, app)
})

async function ownedSigner(overrides: Parameters<typeof makeSigner>[1] = { app_share_owner: true }): Promise<Signer> {
  const signer = await makeSigner(fixture, overrides)
  fixture.gateway.owners.set(signer.tenant.id, OWNER)
  fixture.gateway.inboxes.set(signer.inbox.inbox_uid, { ...signer.inbox, display_name: 'The Agent' })
  await allow(fixture, app, signer, ALL, ownerHashOf(OWNER))
  return signer
}

/** Signs in. @returns the tokens, and the claims of the ID token. */
async function tokens(signer: Signer, scope = ALL.join(' '), of = party) {
  const { body, text } = await of.exchange(await of.code(signer, { scope }))
  if (typeof body['id_token'] !== 'string') throw new Error(`no tokens: ${text}`)
  return { token: body['access_token'], claims: decodeJwt(body['id_token']) }
}

describe('claims', () => {
  it('are those of the granted scopes, the same in the ID token and at UserInfo', async () => {
    const signer = await ownedSigner()
    const { token, claims } = await tokens(signer)
    const info = await party.userInfo(token)
    expect(info.body).toEqual({
      sub: expect.stringMatching(NAMES),
      actor_type: 'agent',
      email: signer.inbox.address,
      email_verified: true,
      name: 'The Agent',
      preferred_username: signer.inbox.address.split('@')[0],
      owner_sub: expect.stringMatching(NAMES),
      owner_name: 'The Human',
      owner_email: 'human@example.com',
      owner_email_verified: true,
    })
    expect(claims).toMatchObject(info.body)
    expect((await party.userInfo(token, 'POST')).body).toEqual(info.body)
  })

  it('are absent without a value, never null', async () => {
    const signer = await makeSigner(fixture)
    await allow(fixture, app, signer, ['openid', 'profile'])
    const { token } = await tokens(signer, 'openid profile')
    const { body } = await party.userInfo(token)
    expect(Object.keys(body).toSorted()).toEqual(['actor_type', 'preferred_username', 'sub'])
  })

  it('name an inbox equally at all apps, another inbox otherwise, and one human at all inboxes', async () => {
    const other = new RelyingParty(fixture, await fixture.app())
    const [one, two] = [await ownedSigner(), await ownedSigner()]
    const [first, second] = [await tokens(one), await tokens(two)]
    expect(first.claims.sub).not.toBe(second.claims.sub)
    expect(first.claims['owner_sub']).toBe(second.claims['owner_sub'])
    await allow(fixture, { client_id: await otherClient(other) }, one)
    expect((await tokens(one, 'openid email', other)).claims.sub).toBe(first.claims.sub)
  })

  it('give an open client neither a profile nor the organization', async () => {
    const signer = await ownedSigner()
    const open = {
      client_id: 'https://open.example/app',
      redirect_uris: ['https://open.example/back'],
      client_secret: '',
    }
    await allow(fixture, open, signer, ['openid', 'email', 'profile'])
    const client = new RelyingParty(fixture, open)
    const code = await client.code(signer, { scope: 'openid email profile' })
    const { status, body } = await client.exchange(code, { client_id: open.client_id }, {})
    expect(status).toBe(200)
    const {
      iss: _iss,
      iat: _iat,
      exp: _exp,
      jti: _jti,
      auth_time: _time,
      at_hash: _hash,
      ...claims
    } = decodeJwt(String(body['id_token']))
    expect(claims).toEqual({
      aud: open.client_id,
      nonce: 'the nonce',
      sub: expect.stringMatching(NAMES),
      actor_type: 'agent',
      email: signer.inbox.address,
      email_verified: true,
    })
  })

  it('about an owner go out for the owner that was allowed only, and as long as the key may share them', async () => {
    const signer = await ownedSigner()
    const { token } = await tokens(signer)
    fixture.gateway.owners.set(signer.tenant.id, { ...OWNER, id: 'another human', email: 'other@example.com' })
    expect(ownerClaims((await party.userInfo(token)).body)).toEqual([])
    fixture.gateway.owners.set(signer.tenant.id, OWNER)
    fixture.gateway.credentials.set(signer.credential.api_key_id, { ...signer.credential, app_share_owner: false })
    expect(ownerClaims((await party.userInfo(token)).body)).toEqual(['owner_sub'])
    fixture.gateway.owners.delete(signer.tenant.id)
    expect(ownerClaims((await party.userInfo(token)).body)).toEqual([])
  })

  it('about another owner than at the code are not in the tokens', async () => {
    const signer = await ownedSigner()
    const code = await party.code(signer, { scope: ALL.join(' ') })
    fixture.gateway.owners.set(signer.tenant.id, { ...OWNER, id: 'another human' })
    const { body } = await party.exchange(code)
    expect(ownerClaims(decodeJwt(String(body['id_token'])))).toEqual([])
  })

  const ownerClaims = (claims: object) => Object.keys(claims).filter((name) => name.startsWith('owner_'))
  const otherClient = async (other: RelyingParty) => new URLSearchParams(other.query()).get('client_id') ?? ''
})

describe('an access token', () => {
  it('is good in the Authorization header only', async () => {
    const { token } = await tokens(await ownedSigner())
    const url = new URL('/v0/userinfo', fixture.authBase)
    const form = await party.post('/v0/userinfo', `access_token=${token}`)
    const query = await seen(await fetch(`${url}?access_token=${token}`))
    for (const { status, headers } of [form, query]) {
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="userinfo"'])
    }
    const wrong = [`Basic ${token}`, `Bearer ${token} x`, 'Bearer', `Bearer ${String(token).slice(1)}`]
    for (const authorization of wrong) {
      const { status, headers, body } = await seen(await fetch(url, { headers: { authorization } }))
      expect([authorization, status, body['error']]).toEqual([authorization, 401, 'invalid_token'])
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  })

  it('ends with its time, its key and its inbox, and not with its account', async () => {
    const signer = await ownedSigner()
    const { token } = await tokens(signer)
    const status = async () => (await party.userInfo(token)).status
    await queryRows(fixture.db, 'update accounts set disabled_at = now() where inbox_uid = $1', signer.inbox.inbox_uid)
    expect(await status()).toBe(200)
    fixture.gateway.credentials.delete(signer.credential.api_key_id)
    expect(await status()).toBe(401)
    fixture.gateway.credentials.set(signer.credential.api_key_id, signer.credential)
    fixture.gateway.inboxes.delete(signer.inbox.inbox_uid)
    expect(await status()).toBe(401)
    fixture.gateway.inboxes.set(signer.inbox.inbox_uid, signer.inbox)
    expect(await status()).toBe(200)
    await queryRows(
      fixture.db,
      'update access_tokens set expires_at = now() where inbox_uid = $1',
      signer.inbox.inbox_uid,
    )
    expect(await status()).toBe(401)
  })
})
