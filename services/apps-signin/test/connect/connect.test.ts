import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { countRows, queryRows } from '@restante/testkit'
import { type AppsSigninFixture, startAppsSignin } from '../support/fixture.ts'
import { makeTenant } from '../support/tenant.ts'

let fixture: AppsSigninFixture

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())
afterEach(() => {
  fixture.gateway.answers = {}
})

const connect = (caller: Caller, app_id: string, body: object = {}, key?: string) =>
  fixture.call('apps.connect', caller, {
    params: { app_id },
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  })

async function scene(settings: Parameters<AppsSigninFixture['app']>[0] = {}) {
  const tenant = makeTenant(fixture)
  return { tenant, inbox: tenant.inbox(), app: await fixture.app(settings) }
}

const without = (caller: Caller, ...permissions: string[]): Caller => ({
  ...caller,
  credential: { ...caller.credential, permissions },
})

describe('apps.connect', () => {
  it('answers a link for five minutes and stores only its hash', async () => {
    const { tenant, inbox, app } = await scene()
    const { status, body } = await connect(tenant.owner, app.app_id, { inbox_id: inbox.address })
    expect(status).toBe(202)
    const api_key_id = String(body['api_key_id'])
    const url = String(body['magic_url'])
    expect(url).toMatch(new RegExp(`^${fixture.authBase}/connect/[\\w-]{43}$`))
    const left = Date.parse(String(body['expires_at'])) - Date.now()
    expect(left).toBeGreaterThan(290_000)
    expect(left).toBeLessThanOrEqual(300_100)
    expect(fixture.gateway.requests('gateway.mintSignInKey').at(-1)).toEqual({
      api_key_id,
      organization_id: tenant.id,
      inbox_uid: inbox.inbox_uid,
      created_by: tenant.owner.credential.id,
      expires_at: body['expires_at'],
    })
    const rows = await queryRows(fixture.db, 'select * from tickets')
    expect(JSON.stringify(rows)).not.toContain(url.slice(-43))
  })

  it('finds the app by its slug, and answers under its older name', async () => {
    const { tenant, inbox, app } = await scene()
    const params = { app_id: (app.slug ?? '').toUpperCase().replace('-', ' ') }
    const { status } = await fixture.call('providers.connect', tenant.inInbox(inbox), { params })
    expect(status).toBe(202)
  })

  it('refuses keys of an organization whose human is not verified', async () => {
    const { tenant, inbox } = await scene()
    const refused = await connect({ ...tenant.owner, unverified: true }, randomUUID(), { inbox_id: inbox.address })
    expect(refused).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
  })

  it('does not know apps without a place where a sign-in begins or returns to', async () => {
    const { tenant, inbox } = await scene()
    const body = { inbox_id: inbox.address }
    const unfinished = await Promise.all([
      fixture.app({ initiate_login_uri: null }),
      fixture.app({ redirect_uris: [], initiate_login_uri: null }),
    ])
    for (const app_id of [randomUUID(), 'unknown', ...unfinished.map((app) => app.app_id)]) {
      const { status, body: error } = await connect(tenant.owner, app_id, body)
      expect([status, error['code'], error['message']]).toEqual([404, 'not_found', 'App not found'])
    }
    const nameless = await connect(tenant.owner, '--', body)
    expect(nameless).toMatchObject({ status: 400, body: { errors: [{ path: ['app_id'] }] } })
  })

  it('demands an inbox in the scope of the key', async () => {
    const { tenant, inbox, app } = await scene()
    const other = tenant.inbox(randomUUID())
    const foreign = makeTenant(fixture).inbox()
    const nameless = await connect(tenant.owner, app.app_id)
    expect(nameless).toMatchObject({ status: 400, body: { errors: [{ path: ['inbox_id'] }] } })
    const refused = [
      await connect(tenant.owner, app.app_id, { inbox_id: 'nobody@restante.test' }),
      await connect(tenant.owner, app.app_id, { inbox_id: foreign.address }),
      await connect(tenant.inPod(inbox.pod_id), app.app_id, { inbox_id: other.address }),
      await connect(tenant.inInbox(inbox), app.app_id, { inbox_id: other.address }),
    ]
    for (const { status, body } of refused) expect([status, body['message']]).toEqual([404, 'Inbox not found'])
    expect((await connect(tenant.inInbox(inbox), app.app_id)).status).toBe(202)
    expect((await connect(tenant.inInbox(inbox), app.app_id, { inbox_id: inbox.address })).status).toBe(202)
  })

  it('refuses an inbox whose account is disabled', async () => {
    const { tenant, inbox, app } = await scene()
    await queryRows(
      fixture.db,
      `insert into accounts (id, app_id, organization_id, pod_id, inbox_uid, address, first_signed_in_at,
         last_signed_in_at, sign_in_count, disabled_at)
       values ('${randomUUID()}', '${app.app_id}', '${tenant.id}', '${tenant.id}', '${inbox.inbox_uid}', 'a', now(), now(), 1, now())`,
    )
    const refused = await connect(tenant.owner, app.app_id, { inbox_id: inbox.address })
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  })

  it('demands app_share_owner to accept owner scopes in advance, and only then', async () => {
    const { tenant, inbox, app } = await scene({ scopes: ['openid', 'email', 'owner_email'] })
    const caller = without(tenant.owner, 'inbox_read')
    const body = { inbox_id: inbox.address }
    expect((await connect(caller, app.app_id, body)).status).toBe(202)
    const refused = await connect(caller, app.app_id, { ...body, accept_disclosure: true })
    expect(refused).toMatchObject({ status: 403, body: { code: 'missing_permission' } })
    const sharing = without(tenant.owner, 'app_share_owner')
    expect((await connect(sharing, app.app_id, { ...body, accept_disclosure: true })).status).toBe(202)
  })

  it('records what an agent accepts in advance for exactly the current scopes, version and owner', async () => {
    const { tenant, inbox, app } = await scene({ scopes: ['openid', 'owner_email'], disclosure_version: 7 })
    fixture.gateway.owners.set(tenant.id, { id: 'owner 1', email: 'owner@example.com' })
    await connect(tenant.owner, app.app_id, { inbox_id: inbox.address, accept_disclosure: true })
    const rows = await queryRows(
      fixture.db,
      `select client_id, scopes, redirect_uri, disclosure_version, given_by,
         owner_hash = sha256('owner 1') as of_owner from consents where inbox_uid = '${inbox.inbox_uid}'`,
    )
    expect(rows).toEqual([
      {
        client_id: app.client_id,
        scopes: ['openid', 'owner_email'],
        redirect_uri: null,
        disclosure_version: 7,
        given_by: 'agent',
        of_owner: true,
      },
    ])
    const { value } = await fixture.published.next(({ key }) => key === inbox.inbox_uid, { what: 'the consent' })
    expect(JSON.parse(value)).toMatchObject({ by: 'agent', client_id: app.client_id, inbox_uid: inbox.inbox_uid })
  })

  it('says which of the two sign-up limits refuses, and lets inboxes pass that have signed up', async () => {
    const { tenant, inbox, app } = await scene({ owner_signup_limit: 0 })
    const body = { inbox_id: inbox.address }
    const paused = await connect(tenant.owner, app.app_id, body)
    expect(paused).toMatchObject({ status: 403, body: { code: 'limit_exceeded', name: 'AppSignupLimitError' } })
    expect(paused.body['message']).toContain('no new sign-ups')
    await fixture.internal('apps-signin.updateApp', {
      app_id: app.app_id,
      settings: { owner_signup_limit: 1 },
      operator: 'tester',
    })
    await queryRows(
      fixture.db,
      `insert into sign_ups (app_id, organization_id, inbox_hash)
       values ('${app.app_id}', '${tenant.id}', sha256(convert_to('${inbox.inbox_uid}', 'UTF8')))`,
    )
    expect((await connect(tenant.owner, app.app_id, body)).status).toBe(202)
    const reached = await connect(tenant.owner, app.app_id, { inbox_id: tenant.inbox().address })
    expect(reached).toMatchObject({ status: 403, body: { name: 'AppSignupLimitError' } })
    expect(reached.body['fix']).toContain('deleted inboxes count')
  })

  it.each(['live_keys', 'key_per_hour', 'organization_per_hour'] as const)(
    'answers 429 with Retry-After at the limit %s',
    async (by) => {
      const { tenant, inbox, app } = await scene()
      fixture.gateway.answers = { 'gateway.mintSignInKey': () => ({ outcome: 'limited', by, retry_after: 17 }) }
      const refused = await connect(tenant.owner, app.app_id, { inbox_id: inbox.address })
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limit_exceeded' } })
      expect(refused.headers.get('retry-after')).toBe('17')
    },
  )

  it('leaves no key behind when the answer of the gateway is lost', async () => {
    const { tenant, inbox, app } = await scene()
    fixture.gateway.answers = {
      'gateway.mintSignInKey': () => {
        throw new Error('the answer is lost')
      },
    }
    const key = randomUUID()
    expect((await connect(tenant.owner, app.app_id, { inbox_id: inbox.address }, key)).status).toBe(503)
    const [minted, cancelled] = (['gateway.mintSignInKey', 'gateway.cancelSignInKey'] as const).map(
      (operation) => fixture.gateway.requests(operation).at(-1)?.api_key_id,
    )
    expect(cancelled).toBe(minted)
    fixture.gateway.answers = {}
    expect((await connect(tenant.owner, app.app_id, { inbox_id: inbox.address }, key)).status).toBe(202)
  })

  it('refuses what was deleted while the request was running', async () => {
    const { tenant, inbox, app } = await scene()
    const body = { inbox_id: inbox.address }
    fixture.gateway.answers = { 'gateway.mintSignInKey': () => ({ outcome: 'refused', because: 'inbox' }) }
    expect((await connect(tenant.owner, app.app_id, body)).body['message']).toBe('Inbox not found')
    fixture.gateway.answers = { 'gateway.mintSignInKey': () => ({ outcome: 'refused', because: 'creator' }) }
    expect((await connect(tenant.owner, app.app_id, body)).body['code']).toBe('missing_permission')
  })
})

describe('the Idempotency-Key of apps.connect', () => {
  it('repeats the answer as long as the link works, sealed in the database', async () => {
    const { tenant, inbox, app } = await scene()
    const body = { inbox_id: inbox.address }
    const key = `!~"\\${'x'.repeat(124)}`
    const first = await connect(tenant.owner, app.app_id, body, key)
    const second = await connect(tenant.owner, app.app_id, { ...body, accept_disclosure: false }, key)
    expect(first.status).toBe(202)
    expect(second.body).toEqual(first.body)
    expect(second.status).toBe(202)
    const rows = await queryRows<{ answer: Buffer }>(
      fixture.db,
      'select answer from connect_replays where key = $1',
      key,
    )
    expect(rows.map(({ answer }) => answer.includes('magic_url'))).toEqual([false])
    await queryRows(fixture.db, 'update connect_replays set expires_at = now()')
    const later = await connect(tenant.owner, app.app_id, body, key)
    expect(later.body['api_key_id']).not.toBe(first.body['api_key_id'])
  })

  it.each(['', 'a b', 'ü', 'x'.repeat(129)])('refuses the malformed key %j', async (key) => {
    const { tenant, inbox, app } = await scene()
    const refused = await connect(tenant.owner, app.app_id, { inbox_id: inbox.address }, key)
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: ['headers', 'idempotency-key'] }] } })
  })

  it('refuses another request, also by another key of the organization, and knows nothing of other organizations', async () => {
    const { tenant, inbox, app } = await scene()
    const body = { inbox_id: inbox.address }
    const key = randomUUID()
    await connect(tenant.owner, app.app_id, body, key)
    const { credential } = tenant.owner
    const others = [
      await connect(tenant.owner, app.app_id, { ...body, accept_disclosure: true }, key),
      await connect(tenant.owner, (await fixture.app()).app_id, body, key),
      await connect({ ...tenant.owner, credential: { ...credential, id: randomUUID() } }, app.app_id, body, key),
    ]
    for (const { status, body: error } of others) expect([status, error['code']]).toEqual([409, 'conflict'])
    const stranger = await scene()
    const own = await connect(stranger.tenant.owner, stranger.app.app_id, { inbox_id: stranger.inbox.address }, key)
    expect(own.status).toBe(202)
  })

  it('creates one key for a hundred requests at once, and one answer', async () => {
    const { tenant, inbox, app } = await scene()
    const key = randomUUID()
    const before = fixture.gateway.requests('gateway.mintSignInKey').length
    const many = await Promise.all(
      Array.from({ length: 100 }, () => connect(tenant.owner, app.app_id, { inbox_id: inbox.address }, key)),
    )
    expect(fixture.gateway.requests('gateway.mintSignInKey')).toHaveLength(before + 1)
    const links = new Set(many.filter(({ status }) => status === 202).map(({ body }) => body['magic_url']))
    expect(links.size).toBe(1)
    for (const { status, body } of many) if (status !== 202) expect([status, body['code']]).toEqual([409, 'conflict'])
  })

  it('frees the key of a refused request, and that of a dead one when its lease ends', async () => {
    const { tenant, inbox, app } = await scene()
    const body = { inbox_id: inbox.address }
    const key = randomUUID()
    fixture.gateway.answers = {
      'gateway.mintSignInKey': () => ({ outcome: 'limited', by: 'live_keys', retry_after: 1 }),
    }
    expect((await connect(tenant.owner, app.app_id, body, key)).status).toBe(429)
    fixture.gateway.answers = {}
    const first = await connect(tenant.owner, app.app_id, body, key)
    expect(first.status).toBe(202)
    // As a process leaves it that died after it had created the key.
    await queryRows(fixture.db, `update connect_replays set answer = null where key = '${key}'`)
    expect((await connect(tenant.owner, app.app_id, body, key)).status).toBe(409)
    await queryRows(fixture.db, `update connect_replays set expires_at = now() where key = '${key}'`)
    expect((await connect(tenant.owner, app.app_id, body, key)).status).toBe(202)
    expect(fixture.gateway.requests('gateway.cancelSignInKey').at(-1)).toEqual({ api_key_id: first.body['api_key_id'] })
    expect(await countRows(fixture.db, `connect_replays where key = '${key}'`)).toBe(1)
  })
})
