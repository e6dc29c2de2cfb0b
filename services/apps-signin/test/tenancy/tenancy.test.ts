import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { sweepAll } from '@restante/service/database'
import {
  countRows,
  inboxDeletedEvent,
  organizationDeletedEvent,
  podDeletedEvent,
  queryRows,
  waitFor,
} from '@restante/testkit'
import { admitSignUp } from '../../src/apps/sign-ups.ts'
import { SWEEPS } from '../../src/tenancy/sweeper.ts'
import { INBOX_TABLES, ORGANIZATION_TABLES } from '../../src/tenancy/tables.ts'
import { type AppsSigninFixture, startAppsSignin, type TestApp } from '../support/fixture.ts'
import { fillTables, rowsWhere } from '../support/rows.ts'
import { signIn } from '../support/sign-ins.ts'
import { makeTenant, type TestInbox } from '../support/tenant.ts'

let fixture: AppsSigninFixture
let app: TestApp

beforeAll(async () => {
  fixture = await startAppsSignin()
  app = await fixture.app({ owner_signup_limit: 1 })
})
afterAll(() => fixture.stop())

const everywhere = Object.fromEntries(INBOX_TABLES.map((table) => [table, 1]))

/** An inbox with a row in every table. */
async function filled(inbox: TestInbox): Promise<TestInbox> {
  await signIn(fixture, app.client_id, inbox)
  await fillTables(fixture.db, { appId: app.app_id, inbox })
  return inbox
}

function deleted({ organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, address }: TestInbox) {
  return inboxDeletedEvent({ organizationId, podId, inboxUid, address })
}

const rowsOf = ({ inbox_uid }: TestInbox) => rowsWhere(fixture.db, 'inbox_uid', inbox_uid)
const purged = (inbox: TestInbox) =>
  waitFor(async () => Object.keys(await rowsOf(inbox)).length === 0, {
    what: 'the inbox to be purged',
  })

describe('every table with a column of an inbox or an organization', () => {
  it('is among those that a deletion purges', async () => {
    const tables = (column: string) =>
      queryRows<{ table_name: string }>(
        fixture.db,
        `select table_name from information_schema.columns
          where table_schema = 'public' and column_name = $1 and table_name <> 'deleted_scopes'`,
        column,
      )
    const names = async (column: string) => (await tables(column)).map(({ table_name }) => table_name).sort()
    expect(await names('inbox_uid')).toEqual([...INBOX_TABLES].sort())
    expect(await names('organization_id')).toEqual([...ORGANIZATION_TABLES].sort())
  })
})

describe('a deleted inbox', () => {
  it('leaves nothing in any table, and stays counted among those that have signed up', async () => {
    const tenant = makeTenant(fixture)
    const [inbox, other] = [await filled(tenant.inbox()), tenant.inbox()]
    expect(await rowsOf(inbox)).toEqual(everywhere)
    await fixture.events.publish(topics.tenancy, deleted(inbox), deleted(inbox))
    await purged(inbox)
    const ids = { appId: app.app_id, organizationId: tenant.id, inboxUid: other.inbox_uid }
    expect(await fixture.db.transaction((tx) => admitSignUp(tx, ids))).toBe('reached')
  })

  it('is purged at the request of the gateway, whose event may be late', async () => {
    const inbox = await filled(makeTenant(fixture).inbox())
    const { organization_id, pod_id, inbox_uid, address } = inbox
    const ask = () =>
      fixture.internal('apps-signin.purgeInbox', {
        ...{ organization_id, pod_id, inbox_uid, address },
        deleted_at: new Date().toISOString(),
      })
    await ask()
    await waitFor(async () => (await ask()).body['purged'] === true, { what: 'the purge' })
    expect(await rowsOf(inbox)).toEqual({})
  })

  it('does not appear in lists from the moment at which its deletion is known', async () => {
    const tenant = makeTenant(fixture)
    const inbox = tenant.inbox()
    const { id } = await signIn(fixture, app.client_id, inbox)
    await queryRows(
      fixture.db,
      `insert into deleted_scopes (id, kind, organization_id, deleted_at, due_at)
       values ($1, 'inbox', $2, now(), now() + interval '1 hour')`,
      inbox.inbox_uid,
      tenant.id,
    )
    expect(await countRows(fixture.db, 'accounts where id = $1', id)).toBe(1)
    expect((await fixture.call('accounts.list', tenant.owner)).body).toMatchObject({ count: 0 })
    const params = { account_id: id }
    expect((await fixture.call('accounts.get', tenant.owner, { params })).status).toBe(404)
  })

  it('is purged in batches, however many rows there are', async () => {
    const inbox = makeTenant(fixture).inbox()
    await queryRows(
      fixture.db,
      `insert into consents (client_id, inbox_uid, organization_id, scopes, disclosure_version, given_by)
       select 'https://' || n || '.example/', $1, $2, '{openid}', 1, 'person' from generate_series(1, 2500) as n`,
      inbox.inbox_uid,
      inbox.organization_id,
    )
    await fixture.events.publish(topics.tenancy, deleted(inbox))
    await purged(inbox)
  })
})

describe('a deleted pod', () => {
  it('is purged with its inboxes, and the other pods stay', async () => {
    const tenant = makeTenant(fixture)
    const pod = randomUUID()
    const [inbox, other] = [await filled(tenant.inbox(pod)), await filled(tenant.inbox())]
    await fixture.events.publish(topics.tenancy, podDeletedEvent(tenant.id, pod), deleted(inbox))
    await purged(inbox)
    expect(await rowsOf(other)).toEqual(everywhere)
  })
})

describe('a deleted organization', () => {
  it('leaves nothing, not even that its inboxes have signed up, nor a limit of its own', async () => {
    const [tenant, other] = [makeTenant(fixture), makeTenant(fixture)]
    const [gone, kept] = [await filled(tenant.inbox()), await filled(other.inbox())]
    const limit = { app_id: app.app_id, organization_id: tenant.id, limit: 5, operator: 'tester' }
    await fixture.internal('apps-signin.setSignUpLimit', limit)
    const rows = () => rowsWhere(fixture.db, 'organization_id', tenant.id, ORGANIZATION_TABLES)
    expect(await rows()).toEqual({ ...everywhere, sign_ups: 1, sign_up_limits: 1 })
    // The event of the inbox may come later: nothing waits for it.
    await fixture.events.publish(topics.tenancy, organizationDeletedEvent(tenant.id))
    await waitFor(async () => Object.keys(await rows()).length === 0, { what: 'the purge' })
    await fixture.events.publish(topics.tenancy, deleted(gone))
    expect(await rowsOf(kept)).toEqual(everywhere)
    expect(await countRows(fixture.db, 'sign_ups where organization_id = $1', other.id)).toBe(1)
  })
})

describe('apps-signin.listInboxes', () => {
  it('lists every inbox of which any table has a row, in pages, and those that are deleted', async () => {
    const tenant = makeTenant(fixture)
    const [first, second] = [await filled(tenant.inbox()), tenant.inbox()]
    await queryRows(
      fixture.db,
      `insert into consents (client_id, inbox_uid, organization_id, scopes, disclosure_version, given_by)
       values ('https://a.example/', $1, $2, '{openid}', 1, 'person')`,
      second.inbox_uid,
      tenant.id,
    )
    const listed: Record<string, unknown>[] = []
    for (let after: unknown; ; ) {
      const { body } = await fixture.internal('apps-signin.listInboxes', { state: 'held', limit: 1, after })
      const { inboxes, next } = body as { inboxes: Record<string, unknown>[]; next?: string }
      listed.push(...inboxes)
      if (next === undefined) break
      after = next
    }
    const own = listed.filter((each) => each['organization_id'] === tenant.id)
    expect(own).toHaveLength(2)
    expect(own).toContainEqual({
      inbox_uid: first.inbox_uid,
      organization_id: tenant.id,
      pod_id: tenant.id,
      address: first.address,
    })
    expect(own).toContainEqual({ inbox_uid: second.inbox_uid, organization_id: tenant.id })
    await fixture.events.publish(topics.tenancy, deleted(second))
    await purged(second)
    const { text } = await fixture.internal('apps-signin.listInboxes', { state: 'deleted', limit: 1_000 })
    expect(text).toContain(second.inbox_uid)
  })
})

describe('apps-signin.check', () => {
  it.each(['outbox', 'events'])('has the check %s', async (check) => {
    const body = { check, repair: false, restored: [], delete_orphans: false, operator: 'tester' }
    expect(await fixture.internal('apps-signin.check', body)).toMatchObject({ status: 200, body: { findings: [] } })
  })
})

describe('the sweep of what has expired', () => {
  it('deletes the rows of every table that are over, and no others', async () => {
    const tenant = makeTenant(fixture)
    const [live, over] = [await filled(tenant.inbox()), tenant.inbox()]
    await fillTables(fixture.db, { appId: app.app_id, inbox: over, expires: "now() - interval '181 days'" })
    await queryRows(
      fixture.db,
      `insert into owner_mails (id, organization_id, created_at)
       values ($1, $2, now()), ($2, $2, now() - interval '3 hours')`,
      randomUUID(),
      tenant.id,
    )
    await queryRows(
      fixture.db,
      "insert into exchange_counts values ('a', now() - interval '2 hours', 1), ('b', now(), 1)",
    )
    const open = randomUUID()
    await queryRows(
      fixture.db,
      "insert into apps (id, kind, client_id) values ($1, 'open', 'https://unused.example/')",
      open,
    )
    await sweepAll(fixture.db, SWEEPS, new AbortController().signal)
    expect(await rowsOf(over)).toEqual({})
    expect(await rowsOf(live)).toEqual(everywhere)
    expect(await countRows(fixture.db, 'exchange_counts')).toBe(1)
    expect(await countRows(fixture.db, 'owner_mails where organization_id = $1', tenant.id)).toBe(1)
    expect(await countRows(fixture.db, 'apps where id = $1', open)).toBe(0)
    expect(await countRows(fixture.db, 'apps where id = $1', app.app_id)).toBe(1)
  })
})
