import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { callerOf } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox
let other: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  ;[inbox, other] = await Promise.all([fixture.inbox(), fixture.inbox()])
})

const list = (query = '', caller = inbox.caller) => fixture.call(caller, 'threads.list', 'GET', `/threads${query}`)
const get = (id: string, query = '', caller = inbox.caller) =>
  fixture.call(caller, 'threads.get', 'GET', `/threads/${id}${query}`)
const subjects = (body: { threads: { subject: string }[] }) => body.threads.map(({ subject }) => subject)

describe('threads.list', () => {
  it('200: sorts by newest activity, and an answer brings a thread to the top', async () => {
    const first = await receiveMail(fixture, inbox, { subject: 'first', date: new Date('2026-01-01T00:00:00Z') })
    await receiveMail(fixture, inbox, { subject: 'second', date: new Date('2026-01-02T00:00:00Z') })
    expect(subjects((await list()).body)).toEqual(['second', 'first'])
    await receiveMail(fixture, inbox, {
      subject: 're: first',
      inReplyTo: first,
      date: new Date('2026-01-03T00:00:00Z'),
    })
    expect(subjects((await list()).body)).toEqual(['first', 'second'])
  })

  it('200: serves inbox, pod and organization, and no other', async () => {
    await receiveMail(fixture, inbox, { subject: 'mine' })
    await receiveMail(fixture, other, { subject: 'theirs' })
    const { organization_id, pod_id } = inbox
    expect(subjects((await list()).body)).toEqual(['mine'])
    for (const caller of [callerOf({ organization_id }), callerOf({ organization_id, pod_id })]) {
      expect(subjects((await list('', caller)).body)).toEqual(expect.arrayContaining(['mine', 'theirs']))
    }
    expect((await list('', callerOf())).body).toEqual({ count: 0, threads: [] })
    expect((await list('', callerOf({ organization_id, pod_id: randomUUID() }))).body.count).toBe(0)
  })

  it('200: filters by senders, recipients, subject, and labels spread over its messages', async () => {
    const first = await receiveMail(fixture, inbox, { subject: 'Budget 2026', cc: 'Carol <carol@y.test>' })
    const second = await receiveMail(fixture, inbox, { from: 'Bo <bo@x.test>', inReplyTo: first })
    await receiveMail(fixture, inbox, { subject: 'Lunch' })
    const update = (id: string, label: string) =>
      fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: [label] })
    await update(first, 'one')
    await update(second, 'two')
    const found = async (query: string) => subjects((await list(query)).body)
    expect(await found('?senders=["ADA","bo@x"]')).toEqual(['Budget 2026'])
    expect(await found('?recipients=carol')).toEqual(['Budget 2026'])
    expect(await found('?subject=budget')).toEqual(['Budget 2026'])
    expect(await found('?labels=["one","two"]')).toEqual(['Budget 2026'])
    expect(await found('?labels=["one","three"]')).toEqual([])
    expect((await list('?limit=101&senders=a')).status).toBe(400)
    expect((await list('?limit=501')).body.limit).toBe(500)
  })

  it('200: one restricted message hides its whole thread', async () => {
    const first = await receiveMail(fixture, inbox, { subject: 'thread' })
    const second = await receiveMail(fixture, inbox, { inReplyTo: first })
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(second), { add_labels: ['trash'] })
    expect((await list()).body.count).toBe(0)
    expect(subjects((await list('?include_trash=true')).body)).toEqual(['thread'])
  })
})

describe('threads.get', () => {
  it('200: pages from the newest back, ascending inside a page', async () => {
    const ids: string[] = []
    for (let day = 1; day <= 5; day++) {
      const date = new Date(`2026-01-0${day}T00:00:00Z`)
      ids.push(await receiveMail(fixture, inbox, { date, ...(day > 1 && { inReplyTo: ids[0] }) }))
    }
    const { body: first } = await list()
    const threadId = first.threads[0].thread_id
    const whole = (await get(threadId)).body
    expect(whole.messages.map((message: { message_id: string }) => message.message_id)).toEqual(ids)
    expect(whole).toMatchObject({ count: 5, message_count: 5 })
    expect(whole.messages[0]).toHaveProperty('text')
    expect(whole).not.toHaveProperty('limit')
    const page = (await get(threadId, '?limit=2')).body
    expect(page).toMatchObject({ count: 2, limit: 2 })
    const older = (await get(threadId, `?limit=3&page_token=${page.next_page_token}`)).body
    const walked = [...older.messages, ...page.messages].map((message: { message_id: string }) => message.message_id)
    expect(walked).toEqual(ids)
    expect(older).not.toHaveProperty('next_page_token')
  })

  it('200: keeps a page of large bodies short and goes on with a token', async () => {
    const text = 'x'.repeat(3 * 1024 * 1024)
    const first = await receiveMail(fixture, inbox, { text })
    for (let more = 0; more < 3; more++) await receiveMail(fixture, inbox, { text, inReplyTo: first })
    const threadId = (await list()).body.threads[0].thread_id
    const page = (await get(threadId)).body
    expect(page.count).toBeLessThan(4)
    expect(page).toHaveProperty('next_page_token')
  })

  it('400: for an id that is no UUID', async () => {
    expect(await get('x')).toMatchObject({ status: 400, body: { message: 'Invalid UUID' } })
  })

  it('404: for unknown threads, other scopes, and labels that the key may not see', async () => {
    const id = await receiveMail(fixture, inbox)
    const threadId = (await list()).body.threads[0].thread_id
    const missing = { status: 404, body: { code: 'not_found', message: 'Thread not found' } }
    expect(await get(randomUUID())).toMatchObject(missing)
    expect(await get(threadId, '', other.caller)).toMatchObject(missing)
    expect(await get(threadId, '', callerOf())).toMatchObject(missing)
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: ['trash'] })
    const limited: Caller = {
      ...inbox.caller,
      credential: { ...inbox.caller.credential, permissions: ['message_read'] },
    }
    expect(await get(threadId, '', limited)).toMatchObject(missing)
    expect((await get(threadId)).status).toBe(200)
  })
})
