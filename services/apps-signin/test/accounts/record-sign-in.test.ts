import { accountState, topics } from '@restante/contracts/events'
import { countRows, inboxDeletedEvent, queryRows, waitFor } from '@restante/testkit'
import { admitSignUp, recordSignUp } from '../../src/apps/sign-ups.ts'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { attemptSignIn, signIn } from '../support/sign-ins.ts'
import { makeTenant, type Tenant, type TestInbox } from '../support/tenant.ts'

let fixture: AppsSigninFixture

beforeAll(async () => {
  fixture = await startAppsSignin()
})
afterAll(() => fixture.stop())

describe('a sign-in whose code is exchanged', () => {
  it('creates the account once, and counts on from there, however many come at once', async () => {
    const [app, inbox] = [await fixture.app(), makeTenant(fixture).inbox()]
    const recorded = await Promise.all(Array.from({ length: 8 }, () => signIn(fixture, app.client_id, inbox)))
    expect(new Set(recorded.map(({ id }) => id)).size).toBe(1)
    expect(recorded.map((row) => row.sign_in_count).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(recorded.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(new Set(recorded.map((row) => row.first_signed_in_at.getTime())).size).toBe(1)
  })

  it('is published with the state of the account', async () => {
    const [app, inbox] = [await fixture.app(), makeTenant(fixture).inbox()]
    const row = await signIn(fixture, app.client_id, inbox)
    const wait = { what: 'the events of the sign-in' }
    const find = (type: string) =>
      fixture.published.next((record) => record.type === type && record.value.includes(row.id), wait)
    expect(accountState.parse(JSON.parse((await find('account.changed')).value))).toMatchObject({
      account_id: row.id,
      app_id: app.app_id,
      client_id: app.client_id,
      status: 'enabled',
      version: 1,
      sign_in_count: 1,
    })
    const completed = await find('sign_in.completed')
    expect(completed.key).toBe(inbox.inbox_uid)
    expect(JSON.parse(completed.value)).toMatchObject({ app_id: app.app_id, scopes: ['openid', 'email'] })
  })

  it('is not recorded at a disabled account', async () => {
    const [app, inbox] = [await fixture.app(), makeTenant(fixture).inbox()]
    const { id } = await signIn(fixture, app.client_id, inbox)
    await queryRows(fixture.db, 'update accounts set disabled_at = now() where id = $1', id)
    expect(await attemptSignIn(fixture, app.client_id, inbox)).toEqual({ outcome: 'disabled' })
    expect(await countRows(fixture.db, 'accounts where id = $1 and sign_in_count = 1', id)).toBe(1)
  })

  it('gives an open client a row at its first one, which events do not name', async () => {
    const client = 'https://open.example/agent'
    const tenant = makeTenant(fixture)
    const [first, second] = await Promise.all([
      signIn(fixture, client, tenant.inbox()),
      signIn(fixture, client, tenant.inbox()),
    ])
    expect(first.app_id).toBe(second.app_id)
    expect(first).toMatchObject({ app_kind: 'open', app_name: null, client_id: client })
    const { value } = await fixture.published.next(
      ({ type, value }) => type === 'account.changed' && value.includes(first.id),
      { what: 'the event' },
    )
    expect(JSON.parse(value)).not.toHaveProperty('app_id')
  })

  it('is not recorded for an inbox whose deletion this service knows', async () => {
    const [app, inbox] = [await fixture.app(), makeTenant(fixture).inbox()]
    const { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, address } = inbox
    await fixture.events.publish(topics.tenancy, inboxDeletedEvent({ organizationId, podId, inboxUid, address }))
    await waitFor(async () => (await countRows(fixture.db, 'deleted_scopes where id = $1', inboxUid)) === 1, {
      what: 'the tombstone',
    })
    expect(await attemptSignIn(fixture, app.client_id, inbox)).toEqual({ outcome: 'gone' })
  })
})

describe('the sign-up limit of an app', () => {
  const admit = ({ app_id: appId }: TestApp, { id: organizationId }: Tenant, { inbox_uid: inboxUid }: TestInbox) =>
    fixture.db.transaction((tx) => admitSignUp(tx, { appId, organizationId, inboxUid }))

  it('admits as many inboxes of an organization, and those that have signed up at any time', async () => {
    const [app, tenant, other] = [
      await fixture.app({ owner_signup_limit: 1 }),
      makeTenant(fixture),
      makeTenant(fixture),
    ]
    const [inbox, second] = [tenant.inbox(), tenant.inbox()]
    expect(await admit(app, tenant, inbox)).toBeUndefined()
    await signIn(fixture, app.client_id, inbox)
    expect(await admit(app, tenant, inbox)).toBeUndefined()
    expect(await admit(app, tenant, second)).toBe('reached')
    expect(await admit(app, other, other.inbox())).toBeUndefined()
  })

  it('pauses new sign-ups with 0, also where the app itself has no limit', async () => {
    const [app, tenant] = [await fixture.app(), makeTenant(fixture)]
    const body = { app_id: app.app_id, organization_id: tenant.id, limit: 0, operator: 'tester' }
    await fixture.internal('apps-signin.setSignUpLimit', body)
    expect(await admit(app, tenant, tenant.inbox())).toBe('paused')
  })

  it('counts codes that are not exchanged yet, so that it is never exceeded', async () => {
    const [app, tenant] = [await fixture.app({ owner_signup_limit: 1 }), makeTenant(fixture)]
    const [first, second] = [tenant.inbox(), tenant.inbox()]
    await queryRows(
      fixture.db,
      `insert into codes (hash, jti, app_id, client_id, redirect_uri, code_challenge, scopes, organization_id, pod_id,
         inbox_uid, address, api_key_id, owner_approved, auth_time, expires_at)
       values (sha256($1), $1, $2::uuid, $2, '', '', '{}', $3, $3, $4, '', $4, false, now(),
         now() + interval '1 minute')`,
      first.inbox_uid,
      app.app_id,
      tenant.id,
      first.inbox_uid,
    )
    expect(await admit(app, tenant, second)).toBe('reached')
    expect(await admit(app, tenant, first)).toBeUndefined()
  })

  it('lets one of two through that arrive at once', async () => {
    const [app, tenant] = [await fixture.app({ owner_signup_limit: 1 }), makeTenant(fixture)]
    const { app_id: appId } = app
    const admitAndRecord = (inbox: TestInbox) =>
      fixture.db.transaction(async (tx) => {
        const { inbox_uid: inboxUid } = inbox
        const refusal = await admitSignUp(tx, { appId, organizationId: tenant.id, inboxUid })
        if (refusal) return refusal
        await recordSignUp(tx, { appId, organizationId: tenant.id, inboxUid })
        return 'admitted'
      })
    const inboxes = Array.from({ length: 5 }, () => tenant.inbox())
    const outcomes = await Promise.all(inboxes.map(admitAndRecord))
    expect(outcomes.filter((outcome) => outcome === 'admitted')).toHaveLength(1)
  })
})
