import { countRows, queryRows } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, restricted } from '../mailbox-fixture.ts'

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

const getMany = (ids: readonly string[], caller = inbox.caller) =>
  fixture.call(caller, 'messages.batchGet', 'POST', '/messages/batch-get', { message_ids: ids })
const updateMany = (ids: readonly string[], body: object, caller = inbox.caller) =>
  fixture.call(caller, 'messages.batchUpdate', 'POST', '/messages/batch-update', { message_ids: ids, ...body })
const update = (id: string, body: object) => fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), body)
const events = (query = '', caller = inbox.caller) => fixture.call(caller, 'inboxEvents.list', 'GET', `/events${query}`)
const NONE = '<nothing@x.test>'

describe('messages.batchGet', () => {
  it('200: in the order of the request, with headers and without bodies', async () => {
    const [first, second] = [
      await receiveMail(fixture, inbox),
      await receiveMail(fixture, inbox, { replyTo: 'b@x.test' }),
    ]
    const { status, body } = await getMany([second, NONE, first])
    expect(status).toBe(200)
    expect(body).toMatchObject({ limit: 3, count: 2 })
    expect(body.messages.map(({ message_id }) => message_id)).toEqual([second, first])
    expect(body.messages[0]).toMatchObject({
      reply_to: ['b@x.test'],
      headers: { 'Reply-To': 'b@x.test' },
      preview: 'Hello\n',
    })
    for (const message of body.messages)
      for (const member of ['text', 'html', 'extracted_text', 'extracted_html'])
        expect(message).not.toHaveProperty(member)
  })

  it('200: has the headers of all messages, also where they are more than 10 MB together', async () => {
    const ids = [
      await receiveMail(fixture, inbox),
      await receiveMail(fixture, inbox),
      await receiveMail(fixture, inbox),
    ]
    await queryRows(
      fixture.db,
      `update message_bodies set headers = jsonb_build_object('X-Large', repeat('x', 4 * 1024 * 1024))
        where id in (select id from messages where message_id = any($1))`,
      ids,
    )
    const order = [...ids.toReversed(), NONE]
    const { status, body } = await getMany(order)
    expect(status).toBe(200)
    expect(body).toMatchObject({ limit: 4, count: 3 })
    expect(body.messages.map(({ message_id }) => message_id)).toEqual(ids.toReversed())
    expect(body.messages.map(({ headers }) => headers?.['X-Large']?.length)).toEqual(Array(3).fill(4 * 1024 * 1024))
  })

  it('200: leaves out messages of other inboxes and those that the key may not see', async () => {
    const [mine, theirs, hidden] = [
      await receiveMail(fixture, inbox),
      await receiveMail(fixture, other),
      await receiveMail(fixture, inbox),
    ]
    await update(hidden, { add_labels: ['trash'] })
    const ids = [mine, theirs, hidden]
    const found = async (caller = inbox.caller) =>
      (await getMany(ids, caller)).body.messages.map(({ message_id }) => message_id)
    expect(await found()).toEqual([mine, hidden])
    expect(await found(restricted(inbox.caller))).toEqual([mine])
  })

  it.each([
    ['no ids', { message_ids: [] }],
    ['a number', { message_ids: 7 }],
    ['an id twice', { message_ids: [NONE, NONE] }],
    ['more than 500 ids', { message_ids: Array.from({ length: 501 }, (_, index) => `<${index}@x.test>`) }],
    ['an empty id', { message_ids: [''] }],
    ['nothing', {}],
  ])('400: for %s', async (_, body) => {
    const answer = await fixture.call(inbox.caller, 'messages.batchGet', 'POST', '/messages/batch-get', body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } })
  })
})

describe('messages.batchUpdate', () => {
  it('200: changes the labels of all messages that are found, and says what they are', async () => {
    const ids = [await receiveMail(fixture, inbox), await receiveMail(fixture, inbox)]
    const foreign = await receiveMail(fixture, other)
    const { status, body } = await updateMany([...ids.toReversed(), foreign, NONE], {
      add_labels: ['done'],
      remove_labels: 'unread',
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      limit: 4,
      count: 2,
      updates: ids.toReversed().map((message_id) => ({ message_id, labels: ['received', 'done'] })),
    })
    expect((await getMany(ids)).body.messages.map(({ labels }) => labels)).toEqual([
      ['received', 'done'],
      ['received', 'done'],
    ])
    expect(await countRows(fixture.db, `messages where inbox_uid = $1 and 'done' = any(labels)`, other.inbox_uid)).toBe(
      0,
    )
  })

  it('400: changes no message when one of them would get too many labels', async () => {
    const [full, empty] = [await receiveMail(fixture, inbox), await receiveMail(fixture, inbox)]
    await update(full, { add_labels: Array.from({ length: 254 }, (_, index) => `label ${index}`) })
    expect(await updateMany([empty, full], { add_labels: ['one more'] })).toMatchObject({
      status: 400,
      body: { code: 'validation_error', errors: [{ path: ['add_labels'] }] },
    })
    expect((await getMany([empty])).body.messages[0]?.labels).toEqual(['received', 'unread'])
  })

  it.each([
    ['no label', {}],
    ['a system label', { add_labels: ['sent'] }],
    ['more than 50 ids', { add_labels: ['a'], message_ids: Array.from({ length: 51 }, (_, index) => `<${index}@x>`) }],
  ])('400: for %s', async (_, body) => {
    expect(await updateMany([NONE], body)).toMatchObject({ status: 400, body: { code: 'validation_error' } })
  })
})

describe('inboxEvents.list', () => {
  it('200: lists the label changes of its messages, newest first, page by page', async () => {
    const id = await receiveMail(fixture, inbox)
    await receiveMail(fixture, other)
    await update(id, { add_labels: ['vip'], remove_labels: ['unread'] })
    const { body } = await events()
    expect(body.events.map(({ event_type, label }) => `${event_type} ${label}`)).toEqual([
      'label.removed unread',
      'label.added vip',
      'label.added unread',
      'label.added received',
    ])
    const { address, organization_id, pod_id } = inbox
    expect(body.events[0]).toMatchObject({ organization_id, pod_id, inbox_id: address, message_id: id })
    const ids = body.events.map(({ event_id }) => event_id)
    expect(ids).toEqual(ids.toSorted().toReversed())

    const walked: string[] = []
    for (let token = ''; ; ) {
      const page = await events(`?limit=3&ascending=true${token}`)
      expect(page.body).toMatchObject({ limit: 3 })
      walked.push(...page.body.events.map(({ event_id }) => event_id))
      if (page.body.next_page_token === undefined) break
      token = `&page_token=${page.body.next_page_token}`
    }
    expect(walked).toEqual(ids.toReversed())
  })

  it('200: leaves out messages that the key may not see', async () => {
    const [shown, hidden, gone] = [
      await receiveMail(fixture, inbox),
      await receiveMail(fixture, inbox),
      await receiveMail(fixture, inbox),
    ]
    await update(hidden, { add_labels: ['spam'] })
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(gone))
    const about = async (caller = inbox.caller) =>
      new Set((await events('', caller)).body.events.map(({ message_id }) => message_id))
    expect(await about()).toEqual(new Set([shown, hidden, gone]))
    expect(await about(restricted(inbox.caller))).toEqual(new Set([shown]))
  })
})
