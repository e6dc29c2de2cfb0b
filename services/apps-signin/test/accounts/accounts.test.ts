import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { account } from '@restante/contracts/resources'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { attemptSignIn, signIn } from '../support/sign-ins.ts'
import { makeTenant, type Tenant } from '../support/tenant.ts'

let fixture: AppsSigninFixture
let app: TestApp

beforeAll(async () => {
  fixture = await startAppsSignin()
  app = await fixture.app()
})
afterAll(() => fixture.stop())

const get = (caller: Caller, account_id: string) => fixture.call('accounts.get', caller, { params: { account_id } })
const update = (caller: Caller, account_id: string, body: unknown) =>
  fixture.call('accounts.update', caller, { params: { account_id }, body })
const list = async (caller: Caller, query = '') => {
  const { status, body } = await fixture.call('accounts.list', caller, { query })
  const accounts = account.array().parse(body['accounts'])
  return { status, body, ids: accounts.map(({ account_id }) => account_id) }
}

/** An inbox of the default pod and one of another pod, both signed in. */
async function twoPods(tenant: Tenant) {
  const [inbox, elsewhere] = [tenant.inbox(), tenant.inbox(randomUUID())]
  const first = await signIn(fixture, app.client_id, inbox)
  const second = await signIn(fixture, app.client_id, elsewhere)
  return { inbox, elsewhere, first, second }
}

describe('accounts.list', () => {
  it('shows the latest first sign-in first, in either direction, with cursors that later sign-ins do not move', async () => {
    const tenant = makeTenant(fixture)
    const inboxes = [tenant.inbox(), tenant.inbox(), tenant.inbox()]
    const ids: string[] = []
    for (const inbox of inboxes) ids.push((await signIn(fixture, app.client_id, inbox)).id)
    const newest = ids.toReversed()
    const page = await list(tenant.owner, '?limit=2')
    expect(page.ids).toEqual(newest.slice(0, 2))
    for (const inbox of inboxes) await signIn(fixture, app.client_id, inbox)
    const token = encodeURIComponent(String(page.body['next_page_token']))
    expect((await list(tenant.owner, `?limit=2&page_token=${token}`)).ids).toEqual(newest.slice(2))
    expect((await list(tenant.owner, '?ascending=true')).ids).toEqual(ids)
  })

  it('echoes the limit that it applied: 50 unless one is given, at most 100', async () => {
    const { owner } = makeTenant(fixture)
    expect((await list(owner)).body).toEqual({ count: 0, limit: 50, accounts: [] })
    expect((await list(owner, '?limit=1000')).body).toMatchObject({ limit: 100 })
    expect((await fixture.call('accounts.list', owner, { query: '?limit=0' })).status).toBe(400)
  })

  it('is narrowed by pod and inbox, and never shows those of another organization', async () => {
    const [tenant, other] = [makeTenant(fixture), makeTenant(fixture)]
    const { inbox, elsewhere, first, second } = await twoPods(tenant)
    await twoPods(other)
    expect((await list(tenant.owner)).ids).toEqual([second.id, first.id])
    expect((await list(tenant.inPod(tenant.id))).ids).toEqual([first.id])
    expect((await list(tenant.inPod(elsewhere.pod_id))).ids).toEqual([second.id])
    expect((await list(tenant.inInbox(inbox, 'organization'))).ids).toEqual([first.id])
  })
})

describe('accounts.get', () => {
  it('shows the account with its app under both names', async () => {
    const tenant = makeTenant(fixture)
    const { inbox, first } = await twoPods(tenant)
    expect((await get(tenant.owner, first.id)).body).toEqual({
      account_id: first.id,
      app_id: app.app_id,
      app_name: app.name,
      provider_id: app.app_id,
      provider_name: app.name,
      organization_id: tenant.id,
      pod_id: tenant.id,
      inbox_id: inbox.address,
      first_signed_in_at: first.first_signed_in_at.toISOString(),
      last_signed_in_at: first.last_signed_in_at.toISOString(),
      sign_in_count: 1,
    })
  })

  it('answers 404 outside the scope, and for what is no id', async () => {
    const [tenant, other] = [makeTenant(fixture), makeTenant(fixture)]
    const { elsewhere, first } = await twoPods(tenant)
    for (const [caller, id] of [
      [other.owner, first.id],
      [tenant.inPod(elsewhere.pod_id), first.id],
      [tenant.inInbox(elsewhere), first.id],
      [tenant.owner, randomUUID()],
      [tenant.owner, 'no-id'],
    ] as const) {
      expect(await get(caller, id)).toMatchObject({ status: 404, body: { message: 'Account not found' } })
    }
  })

  it('shows the account at an app that was removed, and omits the name of an open client', async () => {
    const tenant = makeTenant(fixture)
    const removed = await fixture.app()
    const { id } = await signIn(fixture, removed.client_id, tenant.inbox())
    await fixture.internal('apps-signin.removeApp', { app_id: removed.app_id, operator: 'tester' })
    expect((await get(tenant.owner, id)).body).toMatchObject({ app_id: removed.app_id, app_name: removed.name })
    const open = await signIn(fixture, 'https://open.example/', tenant.inbox())
    expect((await get(tenant.owner, open.id)).body).not.toHaveProperty('app_name')
  })
})

describe('accounts.update and accounts.patch', () => {
  it('disable at once, keep the first time of it, and enable again', async () => {
    const tenant = makeTenant(fixture)
    const { inbox, first } = await twoPods(tenant)
    const disabled = await update(tenant.owner, first.id, { status: 'disabled' })
    expect(disabled).toMatchObject({ status: 200, body: { status: 'disabled', disabled_at: expect.any(String) } })
    expect((await update(tenant.owner, first.id, { status: 'disabled' })).body).toEqual(disabled.body)
    expect(await attemptSignIn(fixture, app.client_id, inbox)).toEqual({ outcome: 'disabled' })
    const params = { account_id: first.id }
    const enabled = await fixture.call('accounts.patch', tenant.owner, { params, body: { status: 'enabled' } })
    expect(enabled.status).toBe(200)
    expect(enabled.body).not.toHaveProperty('status')
    expect(enabled.body).not.toHaveProperty('disabled_at')
    expect((await update(tenant.owner, first.id, { status: 'enabled' })).body).toEqual(enabled.body)
  })

  it('publish one change for each time that the status changes', async () => {
    const tenant = makeTenant(fixture)
    const { first } = await twoPods(tenant)
    await Promise.all([1, 2, 3].map(() => update(tenant.owner, first.id, { status: 'disabled' })))
    await update(tenant.owner, first.id, { status: 'enabled' })
    const wait = { what: 'the event of enabling' }
    await fixture.published.next(
      ({ type, value }) =>
        type === 'account.status_changed' && value.includes(first.id) && value.includes('"status":"enabled"'),
      wait,
    )
    const published = fixture.published.records
      .filter(({ type, value }) => type === 'account.status_changed' && value.includes(first.id))
      .map(({ value }) => JSON.parse(value))
    expect(published.map(({ status }) => status)).toEqual(['disabled', 'enabled'])
    expect(published[0]).toMatchObject({ credential_id: tenant.owner.credential.id, app_id: app.app_id })
  })

  it.each([{}, { status: 'paused' }, { status: null }, { status: 'disabled', name: 'x' }])(
    'refuse %j',
    async (body) => {
      const tenant = makeTenant(fixture)
      const { first } = await twoPods(tenant)
      expect(await update(tenant.owner, first.id, body)).toMatchObject({
        status: 400,
        body: { code: 'validation_error' },
      })
    },
  )

  it('are for bearer keys only, and within their scope', async () => {
    const tenant = makeTenant(fixture)
    const { elsewhere, first } = await twoPods(tenant)
    const { owner } = tenant
    const signed: Caller = {
      ...owner,
      credential: { ...owner.credential, type: 'public_key', permissions: ['account_update'] },
    }
    expect(await update(signed, first.id, { status: 'disabled' })).toMatchObject({
      status: 403,
      body: { code: 'missing_permission', message: 'Forbidden' },
    })
    expect((await update(tenant.inPod(elsewhere.pod_id), first.id, { status: 'disabled' })).status).toBe(404)
  })

  it('answer with the first disabled_at when another request disables during the write', async () => {
    const tenant = makeTenant(fixture)
    const { first } = await twoPods(tenant)
    const { request, other } = await fixture.db.transaction(async (tx) => {
      const [row] = await queryRows<{ disabled_at: Date }>(
        tx,
        'update accounts set disabled_at = now(), version = version + 1 where id = $1 returning disabled_at',
        first.id,
      )
      const waiting = update(tenant.owner, first.id, { status: 'disabled' })
      await waitFor(async () => (await blocked()) > 0, {
        what: 'the request to wait for the row',
        interval: 20,
      })
      return { request: waiting, other: row }
    })
    const disabledAt = other?.disabled_at.toISOString()
    expect(await request).toMatchObject({ status: 200, body: { status: 'disabled', disabled_at: disabledAt } })
  })

  it('are refused when other requests disable and enable the account during the write', async () => {
    const tenant = makeTenant(fixture)
    const { first } = await twoPods(tenant)
    const { request, enabling } = await fixture.db.transaction(async (tx) => {
      await queryRows(tx, 'update accounts set disabled_at = now(), version = version + 1 where id = $1', first.id)
      const request = update(tenant.owner, first.id, { status: 'disabled' })
      await waitFor(async () => (await blocked()) === 1, { what: 'the request to wait for the row', interval: 20 })
      // It comes between the request's write and its next look at the account: both need the table.
      const enabling = fixture.db.transaction(async (other) => {
        await queryRows(other, 'lock table accounts in access exclusive mode')
        await queryRows(other, 'update accounts set disabled_at = null, version = version + 1 where id = $1', first.id)
      })
      await waitFor(async () => (await blocked()) === 2, { what: 'another request to wait', interval: 20 })
      return { request, enabling }
    })
    await enabling
    expect(await request).toMatchObject({ status: 409, body: { code: 'race_condition' } })
  })
})

/** Connections that wait for a lock. */
function blocked(): Promise<number> {
  return countRows(fixture.db, "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
}
