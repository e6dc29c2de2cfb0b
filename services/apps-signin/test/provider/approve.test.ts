import { countRows, queryRows } from '@restante/testkit'
import type { BrowserKey } from '../support/browser.ts'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { allow, locationOf, makeSigner, RelyingParty, type Signer, seen } from '../support/relying-party.ts'
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
  signer = await makeSigner(fixture, { family: 'registered' })
  await allow(fixture, app, signer)
})

interface Given {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, string>>
  readonly key?: BrowserKey
  readonly body?: (assertion: string) => string
  readonly headers?: Readonly<Record<string, string>>
}

/** Approves a sign-in as a program without a browser does. */
async function approve(jti: string, by: Signer = signer, given: Given = {}) {
  const header = { typ: 'agentid-approval+jwt', kid: by.credential.api_key_id, ...given.header }
  const claims = { jti, inbox_id: by.inbox.address, ...given.claims }
  const assertion = await (given.key ?? by.key).sign(header, claims)
  const body = given.body?.(assertion) ?? JSON.stringify({ assertion, inbox_id: by.inbox.address })
  const headers = { 'content-type': 'application/json', ...given.headers }
  const url = new URL('/v0/authorize/approve', fixture.authBase)
  return seen(await fetch(url, { method: 'POST', headers, body }))
}

/** A registered key of wider or no scope, of the organization of the inbox unless told otherwise. */
const keyOf = (overrides: Parameters<typeof makeSigner>[1]) =>
  makeSigner(fixture, { family: 'registered', ...overrides }, signer.tenant)

describe('an approval by a registered key', () => {
  it('lets the browser that began the sign-in go on, and no other', async () => {
    const jti = await party.begin()
    expect((await approve(jti)).status).toBe(204)
    expect((await new RelyingParty(fixture, app).goOn(jti)).status).toBe(401)
    expect(locationOf(await party.goOn(jti)).searchParams.has('code')).toBe(true)
  })

  it('leaves consent to be asked for', async () => {
    const first = new RelyingParty(fixture, await fixture.app())
    const jti = await first.begin()
    expect((await approve(jti)).status).toBe(204)
    expect((await first.goOn(jti)).status).toBe(200)
  })

  it('is malformed in any other form of request', async () => {
    const jti = await party.begin()
    const inbox_id = signer.inbox.address
    const statuses = [
      await approve(jti, signer, { headers: { authorization: 'Bearer x' } }),
      await approve(jti, signer, { headers: { cookie: 'a=b' } }),
      await approve(jti, signer, { body: () => 'not JSON' }),
      await approve(jti, signer, { body: () => JSON.stringify({ inbox_id }) }),
      await approve(jti, signer, { body: (assertion) => JSON.stringify({ assertion }) }),
      await approve(jti, signer, { body: (assertion) => JSON.stringify({ assertion, inbox_id, more: 'x' }) }),
      await approve(jti, signer, { body: (assertion) => JSON.stringify({ assertion: [assertion], inbox_id }) }),
      await approve(jti, signer, {
        body: (assertion) => `{"assertion":"${assertion}","assertion":"x","inbox_id":"${inbox_id}"}`,
      }),
      await approve(jti, signer, { body: (assertion) => JSON.stringify({ assertion, inbox_id: 'x'.repeat(255) }) }),
      await approve(jti, signer, { body: () => JSON.stringify({ assertion: 'x'.repeat(2_049), inbox_id }) }),
      await approve(jti, signer, { body: () => JSON.stringify({ assertion: 'a.b', inbox_id }) }),
    ]
    expect(statuses.map(({ status }) => status)).toEqual(statuses.map(() => 400))
    expect((await approve(jti, signer, { headers: { 'content-type': 'text/plain' } })).status).toBe(415)
  })

  it('is refused before its claims are read, unless a registered key has signed it', async () => {
    const jti = await party.begin()
    const other = await makeSigner(fixture, { family: 'registered' })
    const claims = { extra: 'claim' }
    const answers = [
      await approve(jti, signer, { header: { typ: 'JWT' }, claims }),
      await approve(jti, signer, { header: { kid: other.credential.api_key_id }, claims }),
      await approve(jti, signer, { key: other.key, claims }),
      await approve(jti, await keyOf({ expires_at: new Date(0).toISOString() }), { claims }),
      await approve(jti, await keyOf({ family: 'sign_in' }), { claims }),
    ]
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401))
  })

  it('is malformed with other claims, or another inbox than its body names', async () => {
    const jti = await party.begin()
    const { address } = signer.inbox
    const all = [{ aud: fixture.authBase }, { iat: 1 }, { exp: 1 }, { inbox_id: address.toUpperCase() }, { jti: '' }]
    for (const claims of [...all, { jti: 'x'.repeat(129) }]) {
      expect([claims, (await approve(jti, signer, { claims })).status]).toEqual([claims, 400])
    }
  })

  it('is not found for an unknown sign-in, and gone for an expired one', async () => {
    expect((await approve('x'.repeat(22))).status).toBe(404)
    const jti = await party.begin()
    await queryRows(fixture.db, "update transactions set expires_at = now() - interval '1 second' where jti = $1", jti)
    expect((await approve(jti)).status).toBe(410)
  })

  it('is forbidden outside the scope and permission of the key, and for another inbox than the hint', async () => {
    const jti = await party.begin()
    const elsewhere = signer.tenant.inbox()
    const stranger = await makeSigner(fixture)
    const keys = [
      await keyOf({ app_connect: false }),
      await keyOf({ inbox_uid: elsewhere.inbox_uid }),
      { ...(await keyOf({ inbox_uid: undefined, pod_id: elsewhere.inbox_uid })) },
      { ...signer, inbox: stranger.inbox },
      { ...signer, inbox: { ...signer.inbox, address: 'nobody@restante.test' } },
    ]
    for (const key of keys) expect((await approve(jti, key)).status).toBe(403)
    const hinted = await party.begin({ login_hint: elsewhere.address })
    expect((await approve(hinted)).status).toBe(403)
    fixture.gateway.organizations.set(signer.tenant.id, 'suspended')
    expect((await approve(jti)).status).toBe(403)
    fixture.gateway.organizations.delete(signer.tenant.id)
    expect((await approve(jti, await keyOf({ inbox_uid: undefined, pod_id: undefined }))).status).toBe(204)
  })

  it('is forbidden for a disabled account, and beyond the sign-up limit', async () => {
    const account = await signIn(fixture, app.client_id, signer.inbox)
    await queryRows(fixture.db, 'update accounts set disabled_at = now() where id = $1', account.id)
    expect((await approve(await party.begin())).status).toBe(403)
    const full = new RelyingParty(fixture, await fixture.app({ owner_signup_limit: 0 }))
    expect((await approve(await full.begin())).status).toBe(403)
  })

  it('counts once: the same key may repeat it, any other comes too late', async () => {
    const jti = await party.begin()
    const other = await keyOf({ inbox_uid: undefined, pod_id: undefined })
    const both = [signer, { ...other, inbox: signer.inbox }]
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => approve(jti, both[index % 2])).map(async (each) => (await each).status),
    )
    const even = answers.filter((_, index) => index % 2 === 0)
    const odd = answers.filter((_, index) => index % 2 === 1)
    expect([new Set(even), new Set(odd)].toSorted((a, b) => Number([...a][0]) - Number([...b][0]))).toEqual([
      new Set([204]),
      new Set([409]),
    ])
    expect(await countRows(fixture.db, 'transactions where jti = $1 and approved_at is not null', jti)).toBe(1)
    expect((await approve(jti, { ...signer, inbox: signer.tenant.inbox() })).status).toBe(409)
  })

  it('does not exist where the operator has switched it off, as open clients do not', async () => {
    await fixture.restart({ SIGNED_APPROVAL: 'false', OPEN_CLIENTS: 'false' })
    const jti = await party.begin()
    expect((await approve(jti)).status).toBe(404)
    const open = { client_id: 'https://open.example/app', redirect_uri: 'https://open.example/back' }
    expect((await party.authorize(open)).status).toBe(400)
  })
})
