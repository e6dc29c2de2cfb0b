import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { topics } from '@restante/contracts/events'
import type { OperationId } from '@restante/contracts/operations'
import { collectTopic, countRows, queryRows, type TopicCollection, waitFor } from '@restante/testkit'
import { listEntries } from '../../src/lists/store.ts'
import { type Answer, type Fixture, inboxCaller, startWorld } from '../support/fixture.ts'

let fixture: Fixture
let published: TopicCollection

beforeAll(async () => {
  fixture = await startWorld()
  fixture.peers.answers = { 'mail-ingest.placeSent': async () => ({}) }
  published = await collectTopic(fixture.topics.kafka, topics['mail.lists'].name)
})
afterAll(async () => {
  await published.stop()
  await fixture.stop()
})

type Method = 'GET' | 'POST' | 'DELETE'

/** `ask(caller, 'POST', 'send/block', { entry })`, `ask(caller, 'GET', 'send/block/ada@x.example')` */
function ask(caller: Caller, method: Method, list: string, body?: unknown): Promise<Answer> {
  const [path = '', query] = list.split('?')
  const named = path.split('/').length > 2
  const operations: Record<Method, OperationId> = {
    GET: named ? 'lists.get' : 'lists.list',
    POST: 'lists.create',
    DELETE: 'lists.delete',
  }
  return fixture.call(operations[method], caller, {
    path: `/lists/${path}${query === undefined ? '' : `?${query}`}`,
    method,
    body,
  })
}

/** The organization, a pod and an inbox of it, each as the scope of a request. */
function scopes() {
  const inbox = inboxCaller()
  const { inbox: _, ...organization } = inbox
  return { organization, pod: { ...organization, pod_id: inbox.inbox.pod_id }, inbox }
}

const entriesIn = (answer: Answer) => {
  const entries: unknown = answer.body['entries']
  if (!Array.isArray(entries)) throw new Error(`no entries: ${JSON.stringify(answer.body)}`)
  return entries.map(({ entry }) => entry)
}

const send = (caller: Caller, to: string | string[]) =>
  fixture.call('messages.send', caller, { path: '/messages/send', body: { to, text: 'x' } })

const eventsOf = (organizationId: string) =>
  published.records.flatMap(({ type, value }) => {
    const payload = JSON.parse(value)
    return payload.organization_id === organizationId ? [{ type, payload }] : []
  })

const readOnly = (organizationId: string, address: string, reason: string) =>
  fixture.db.transaction((tx) => listEntries.suppress(tx, organizationId, address, reason))

describe('lists.create', () => {
  it('stores an entry in its normal form, at the scope of the request, and publishes it', async () => {
    const { organization, pod, inbox } = scopes()
    const created = await ask(organization, 'POST', 'receive/allow', {
      entry: ' Ada@B\u00fccher.Example. ',
      reason: 'a friend',
    })
    expect(created).toMatchObject({ status: 200 })
    expect(created.body).toEqual({
      organization_id: organization.organization_id,
      entry: 'ada@xn--bcher-kva.example',
      entry_type: 'email',
      direction: 'receive',
      list_type: 'allow',
      reason: 'a friend',
      read_only: false,
      created_at: expect.any(String),
    })
    expect((await ask(pod, 'POST', 'receive/allow', { entry: 'x.example' })).body).toMatchObject({
      entry_type: 'domain',
      pod_id: pod.pod_id,
    })
    expect((await ask(inbox, 'POST', 'reply/block', { entry: 'x.example' })).body).toMatchObject({
      pod_id: inbox.inbox.pod_id,
      inbox_id: inbox.inbox.address,
    })
    const events = await waitFor(
      () => eventsOf(organization.organization_id).length === 3 && eventsOf(organization.organization_id),
      {
        what: 'three events',
      },
    )
    expect(events.map(({ type }) => type)).toEqual(Array(3).fill('list_entry.changed'))
    expect(events.map(({ payload }) => [payload.entry, payload.pod_id, payload.inbox_uid, payload.version])).toEqual([
      ['ada@xn--bcher-kva.example', undefined, undefined, 1],
      ['x.example', pod.pod_id, undefined, 1],
      ['x.example', inbox.inbox.pod_id, inbox.inbox.uid, 1],
    ])
  })

  it('answers with the existing entry, and changes its reason where one is given', async () => {
    const { organization } = scopes()
    const first = await ask(organization, 'POST', 'send/block', { entry: 'a@x.example', reason: 'one' })
    expect((await ask(organization, 'POST', 'send/block', { entry: 'A@X.example' })).body).toEqual(first.body)
    const second = await ask(organization, 'POST', 'send/block', { entry: 'a@x.example', reason: 'two' })
    expect(second.body).toEqual({ ...first.body, reason: 'two' })
    await waitFor(() => eventsOf(organization.organization_id).length === 2, { what: 'two events' })
    expect(eventsOf(organization.organization_id).map(({ payload }) => [payload.version, payload.reason])).toEqual([
      [1, 'one'],
      [2, 'two'],
    ])
  })

  it('makes one entry of many that are created at once, and never two opposite ones', async () => {
    const { organization } = scopes()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        ask(organization, 'POST', `receive/${index % 2 === 0 ? 'allow' : 'block'}`, { entry: 'x.example' }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(10).fill(200), ...Array(10).fill(409)])
    expect(await countRows(fixture.db, 'list_entries where organization_id = $1', organization.organization_id)).toBe(1)
  })

  it.each(['', 'example', 'Ada <ada@x.example>', '*.x.example', '\ud800@x.example'])(
    'refuses %j with 400 at `entry`, and stores nothing',
    async (entry) => {
      const { organization } = scopes()
      const answer = await ask(organization, 'POST', 'send/allow', { entry })
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error', errors: [{ path: ['entry'] }] } })
      expect(await countRows(fixture.db, 'list_entries where organization_id = $1', organization.organization_id)).toBe(
        0,
      )
    },
  )

  it.each(['forward/allow', 'send/deny'])('refuses the list %s with 400', async (list) => {
    expect(await ask(scopes().organization, 'POST', list, { entry: 'x.example' })).toMatchObject({ status: 400 })
  })

  it('refuses an entry of the opposite list of the same scope, and says what to delete; other scopes may differ', async () => {
    const { organization, inbox } = scopes()
    await ask(organization, 'POST', 'send/block', { entry: 'a@x.example' })
    const answer = await ask(organization, 'POST', 'send/allow', { entry: 'a@x.example' })
    expect(answer).toMatchObject({ status: 409, body: { code: 'conflict' } })
    expect(answer.body['fix']).toBe('Delete that entry first: DELETE /v0/lists/send/block/a%40x.example')
    expect((await ask(inbox, 'POST', 'send/allow', { entry: 'a@x.example' })).status).toBe(200)
    expect((await ask(organization, 'POST', 'receive/allow', { entry: 'a@x.example' })).status).toBe(200)
  })

  it('lets an unverified organization change lists for received mail only', async () => {
    const organization = { ...scopes().organization, unverified: true }
    expect(await ask(organization, 'POST', 'send/allow', { entry: 'x.example' })).toMatchObject({
      status: 403,
      body: { code: 'missing_permission', fix: expect.stringContaining('/v0/agent/verify') },
    })
    expect((await ask(organization, 'POST', 'receive/allow', { entry: 'x.example' })).status).toBe(200)
  })
})

describe('lists.list', () => {
  it('lists one list in alphabetical order, page by page, without those of other scopes', async () => {
    const { organization, pod, inbox } = scopes()
    const names = ['zoe@x.example', 'Ada@x.example', '1.example', 'x.example', '\u00fc@x.example', '_@x.example']
    for (const entry of names) await ask(inbox, 'POST', 'receive/block', { entry })
    await ask(organization, 'POST', 'receive/block', { entry: 'organization.example' })
    await ask(pod, 'POST', 'receive/block', { entry: 'pod.example' })
    await ask(inbox, 'POST', 'receive/allow', { entry: 'allowed.example' })
    const sorted = ['1.example', '_@x.example', 'ada@x.example', 'x.example', 'zoe@x.example', '\u00fc@x.example']
    const whole = await ask(inbox, 'GET', 'receive/block')
    expect([whole.body['count'], whole.body['limit'], entriesIn(whole)]).toEqual([6, undefined, sorted])
    const walked: unknown[] = []
    for (let token = ''; ; ) {
      const page = await ask(inbox, 'GET', `receive/block?limit=4${token}`)
      walked.push(...entriesIn(page))
      const next = page.body['next_page_token']
      if (next === undefined) break
      token = `&page_token=${next}`
    }
    expect(walked).toEqual(sorted)
    expect(entriesIn(await ask(organization, 'GET', 'receive/block'))).toEqual(['organization.example'])
    expect(entriesIn(await ask(pod, 'GET', 'receive/block'))).toEqual(['pod.example'])
  })

  it('opens no other list with a page token', async () => {
    const { organization } = scopes()
    for (const entry of ['a.example', 'b.example']) await ask(organization, 'POST', 'receive/block', { entry })
    const token = (await ask(organization, 'GET', 'receive/block?limit=1')).body['next_page_token']
    expect(entriesIn(await ask(organization, 'GET', `receive/block?limit=1&page_token=${token}`))).toEqual([
      'b.example',
    ])
    expect(await ask(organization, 'GET', `receive/allow?page_token=${token}`)).toMatchObject({ status: 400 })
  })
})

describe('lists.get and lists.delete', () => {
  it('find an entry in every spelling, and 404 what another scope or list has', async () => {
    const { organization, inbox } = scopes()
    const { body } = await ask(organization, 'POST', 'reply/allow', { entry: 'a@x.example' })
    expect((await ask(organization, 'GET', `reply/allow/${encodeURIComponent(' A@X.example.')}`)).body).toEqual(body)
    for (const [caller, list] of [
      [inbox, 'reply/allow/a@x.example'],
      [scopes().organization, 'reply/allow/a@x.example'],
      [organization, 'reply/block/a@x.example'],
      [organization, 'reply/allow/b@x.example'],
      [organization, 'reply/allow/nothing'],
    ] as const) {
      const answers = [await ask(caller, 'GET', list), await ask(caller, 'DELETE', list)]
      expect(answers).toMatchObject(Array(2).fill({ status: 404, body: { message: 'List entry not found' } }))
    }
    expect(await ask(organization, 'DELETE', 'reply/allow/A@x.example')).toMatchObject({ status: 204, body: {} })
    expect((await ask(organization, 'GET', 'reply/allow/a@x.example')).status).toBe(404)
    const events = await waitFor(
      () => eventsOf(organization.organization_id).length === 2 && eventsOf(organization.organization_id),
      {
        what: 'both events',
      },
    )
    const [created, deleted] = events
    expect(deleted).toMatchObject({ type: 'list_entry.deleted', payload: { version: 2 } })
    expect(deleted?.payload.entry_id).toBe(created?.payload.entry_id)
  })

  it('keep an entry that the service made, which no create changes', async () => {
    const { organization } = scopes()
    await readOnly(organization.organization_id, 'a@x.example', 'bounced')
    expect(await ask(organization, 'DELETE', 'send/block/a@x.example')).toMatchObject({
      status: 409,
      body: { code: 'cannot_delete', name: 'CannotDeleteError' },
    })
    const again = await ask(organization, 'POST', 'send/block', { entry: 'a@x.example', reason: 'mine' })
    expect(again.body).toMatchObject({ read_only: true, reason: 'bounced' })
    expect(await ask(organization, 'POST', 'send/allow', { entry: 'a@x.example' })).toMatchObject({ status: 409 })
  })

  it('end as one read-only entry when a caller creates what the service makes at the same moment', async () => {
    for (let round = 0; round < 20; round++) {
      const { organization } = scopes()
      const body = { entry: 'a@x.example', reason: 'mine' }
      const [answer] = await Promise.all([
        ask(organization, 'POST', 'send/block', body),
        readOnly(organization.organization_id, 'a@x.example', 'bounced'),
      ])
      expect(answer.status).toBe(200)
      const { body: entry } = await ask(organization, 'GET', 'send/block/a@x.example')
      expect(entry).toMatchObject({ read_only: true, reason: 'bounced' })
    }
  })

  it('are refused for send lists of an unverified organization', async () => {
    const organization = { ...scopes().organization, unverified: true }
    expect(await ask(organization, 'DELETE', 'send/block/a@x.example')).toMatchObject({ status: 403 })
  })
})

describe('a send', () => {
  it('is refused as a whole when a list blocks a recipient, and stores nothing', async () => {
    const { organization, inbox } = scopes()
    await ask(organization, 'POST', 'send/block', { entry: 'blocked.example' })
    const answer = await send(inbox, ['ann@outside.example', 'Bo@Blocked.example'])
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'message_rejected',
        message: 'Message rejected: Recipient(s) blocked: bo@blocked.example (in block list)',
        fix: 'Delete the entry: DELETE /v0/lists/send/block/blocked.example.',
      },
    })
    expect(await countRows(fixture.db, 'sends where organization_id = $1', organization.organization_id)).toBe(0)
    await ask(organization, 'DELETE', 'send/block/blocked.example')
    expect((await send(inbox, 'bo@blocked.example')).status).toBe(200)
  })

  it('is refused to everybody who is not on an allow list, as soon as one has an entry', async () => {
    const { pod, inbox } = scopes()
    await ask(pod, 'POST', 'send/allow', { entry: 'friends.example' })
    expect((await send(inbox, 'ann@friends.example')).status).toBe(200)
    expect((await send(inbox, 'ann@outside.example')).body).toMatchObject({
      message: 'Message rejected: Recipient(s) blocked: ann@outside.example (not in allow list)',
    })
    expect((await send(scopes().inbox, 'ann@outside.example')).status).toBe(200)
  })

  it('is refused to a suppressed address although an allow list of its inbox names it', async () => {
    const { organization, inbox } = scopes()
    await ask(inbox, 'POST', 'send/allow', { entry: 'a@x.example' })
    await readOnly(organization.organization_id, 'a@x.example', 'complained')
    expect((await send(inbox, 'a@x.example')).body).toMatchObject({
      message: 'Message rejected: Recipient(s) blocked: a@x.example (complained)',
    })
  })

  it('is judged by lists of 100,000 entries with look-ups in an index', async () => {
    const { organization, inbox } = scopes()
    await queryRows(
      fixture.db,
      `insert into list_entries (id, tier, scope_id, organization_id, direction, type, entry, entry_type)
       select gen_random_uuid(), 'organization', $1, $1, 'send', 'block', number || '@x.example', 'email'
         from generate_series(1, 100000) as number`,
      organization.organization_id,
    )
    const recipients = Array.from({ length: 49 }, (_, index) => `${index}@outside.example`)
    expect((await send(inbox, [...recipients, '99999@x.example'])).body).toMatchObject({
      message: 'Message rejected: Recipient(s) blocked: 99999@x.example (in block list)',
    })
    const names = [...recipients, '99999@x.example', 'outside.example', 'x.example']
    const scope = { organizationId: organization.organization_id, podId: inbox.inbox.pod_id, uid: inbox.inbox.uid }
    await queryRows(fixture.db, 'analyze list_entries')
    const rows = await fixture.db.transaction(async (tx) => {
      await listEntries.find(tx, 'send', scope, names)
      const [{ read: tuples } = { read: Number.NaN }] = await queryRows<{ read: number }>(
        tx,
        `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables where relname = 'list_entries'`,
      )
      return tuples
    })
    expect(rows).toBeLessThan(20)
  })
})

describe('the end of a scope', () => {
  it('deletes its entries, and no others', async () => {
    const { organization, pod, inbox } = scopes()
    for (const caller of [organization, pod, inbox]) await ask(caller, 'POST', 'receive/block', { entry: 'x.example' })
    const left = async () =>
      (
        await queryRows<{ tier: string }>(
          fixture.db,
          'select tier from list_entries where organization_id = $1 order by tier',
          organization.organization_id,
        )
      ).map(({ tier }) => tier)
    const deleted_at = new Date().toISOString()
    const { uid: inbox_uid, pod_id, address } = inbox.inbox
    const { organization_id } = organization
    await fixture.internal('mail-send.purgeInbox', 'gateway', {
      organization_id,
      pod_id,
      inbox_uid,
      address,
      deleted_at,
    })
    await waitFor(async () => (await left()).length === 2, { what: 'the purge of the inbox' })
    expect(await left()).toEqual(['organization', 'pod'])
    expect(await ask(inbox, 'POST', 'receive/block', { entry: 'y.example' })).toMatchObject({ status: 404 })
    expect((await ask(pod, 'POST', 'receive/block', { entry: randomUUID().concat('.example') })).status).toBe(200)
  })
})
