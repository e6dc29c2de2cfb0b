import { randomUUID } from 'node:crypto'
import { countRows, queryRows, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, restricted } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox
let other: TestInbox
let events: TopicCollection

beforeAll(async () => {
  fixture = await openFixture()
  events = await fixture.collect('mail.messages')
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  ;[inbox, other] = await Promise.all([fixture.inbox(), fixture.inbox()])
})

const get = (id: string, caller = inbox.caller) => fixture.call(caller, 'messages.get', 'GET', pathOf(id))
const update = (id: string, body: unknown, caller = inbox.caller) =>
  fixture.call(caller, 'messages.update', 'PATCH', pathOf(id), body)
const remove = (id: string, caller = inbox.caller) => fixture.call(caller, 'messages.delete', 'DELETE', pathOf(id))
const notFound = { status: 404, body: { code: 'not_found', message: 'Message not found' } }

describe('messages.update', () => {
  it('200: adds and removes labels, removal wins, and the thread follows', async () => {
    const id = await receiveMail(fixture, inbox)
    const answer = await update(id, {
      add_labels: ['Done', 'both', 'received?'],
      remove_labels: ['unread', 'both', 'absent'],
    })
    expect(answer).toMatchObject({ status: 200, body: { message_id: id, labels: ['received', 'done', 'received?'] } })
    const { body } = await get(id)
    const thread = await fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${body.thread_id}`)
    expect(thread.body.labels).toEqual(['received', 'done', 'received?'])
  })

  it('200: logs each change once, and nothing for labels that stay', async () => {
    const id = await receiveMail(fixture, inbox)
    await update(id, { remove_labels: 'unread' })
    await update(id, { remove_labels: ['unread'], add_labels: [] })
    await update(id, { add_labels: ['seen'] })
    const ours = () =>
      events.records
        .filter(({ headers, type }) => headers['ce_subject'] === id && type.startsWith('label.'))
        .map(({ value }) => JSON.parse(value))
    await waitFor(() => ours().length >= 4, { what: 'four label events' })
    expect(ours().map(({ event_type, label }) => `${event_type} ${label}`)).toEqual([
      'label.added received',
      'label.added unread',
      'label.removed unread',
      'label.added seen',
    ])
    const ids = ours().map(({ event_id }) => event_id)
    expect(ids).toEqual(ids.toSorted())
  })

  it('200: applies all concurrent changes', async () => {
    const id = await receiveMail(fixture, inbox)
    const names = Array.from({ length: 8 }, (_, index) => `label-${index}`)
    await Promise.all(names.map((name) => update(id, { add_labels: [name] })))
    expect((await get(id)).body.labels.toSorted()).toEqual(['received', 'unread', ...names].toSorted())
  })

  it.each([
    [{}],
    [{ add_labels: [] }],
    [{ add_labels: ['sent'] }],
    [{ remove_labels: ['Received'] }],
    [{ add_labels: ['x'.repeat(257)] }],
    [{ add_labels: [' '] }],
    [{ add_labels: Array.from({ length: 255 }, (_, index) => `label ${index}`) }],
  ])('400: for %j', async (body) => {
    const id = await receiveMail(fixture, inbox)
    expect(await update(id, body)).toMatchObject({ status: 400, body: { code: 'validation_error' } })
    expect((await get(id)).body.labels).toEqual(['received', 'unread'])
  })

  it('404: for a message that the key may not see', async () => {
    const id = await receiveMail(fixture, inbox)
    await update(id, { add_labels: ['trash'] })
    expect(await update(id, { remove_labels: ['trash'] }, restricted(inbox.caller))).toMatchObject(notFound)
    expect(await update(id, { remove_labels: ['trash'] }, restricted(inbox.caller, 'label_trash_read'))).toMatchObject({
      status: 200,
    })
    expect(await update('<nothing@x.test>', { add_labels: ['a'] })).toMatchObject(notFound)
  })
})

describe('messages.delete', () => {
  it('204: removes the message from its thread, which is deleted with its last message', async () => {
    const first = await receiveMail(fixture, inbox, {
      subject: 'first',
      attachments: [{ filename: 'a.txt', content: 'a' }],
    })
    const second = await receiveMail(fixture, inbox, { subject: 'second', inReplyTo: first })
    const { thread_id } = (await get(second)).body
    const thread = () => fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${thread_id}`)
    expect((await thread()).body).toMatchObject({ message_count: 2, subject: 'first' })
    expect(await remove(first)).toMatchObject({ status: 204, text: '' })
    expect(await get(first)).toMatchObject(notFound)
    const rest = (await thread()).body
    expect(rest).toMatchObject({ message_count: 1, subject: 'second', last_message_id: second })
    expect(rest).not.toHaveProperty('attachments')
    expect((await remove(second)).status).toBe(204)
    expect((await thread()).status).toBe(404)
    const deleted = await waitFor(
      () => {
        const ours = events.records.filter(({ type, key }) => type === 'message.deleted' && key === inbox.inbox_uid)
        return ours.length === 2 && ours.map(({ value }) => JSON.parse(value))
      },
      { what: 'the deletions' },
    )
    expect(deleted.map(({ thread_deleted }) => thread_deleted)).toEqual([false, true])
  })

  it('204: deletes the bytes once no inbox needs them', async () => {
    const subject = `for two ${randomUUID()}`
    const id = await receiveMail(fixture, inbox, { subject, to: [inbox.address, other.address] })
    await waitFor(async () => (await get(id, other.caller)).status === 200, { what: 'the other copy' })
    await remove(id)
    const raw = await fixture.call(other.caller, 'messages.getRaw', 'GET', `${pathOf(id)}/raw`)
    const file = await fetch(raw.body.download_url.replace('http://public.test/v0', fixture.url))
    expect(file.status).toBe(200)
    const held = 'raw_mails where blob in (select blob from messages where inbox_uid = $1)'
    const blobs = await queryRows<{ blob: string }>(
      fixture.db,
      'select blob from messages where inbox_uid = $1',
      other.inbox_uid,
    )
    expect(await countRows(fixture.db, held, other.inbox_uid)).toBe(1)
    await remove(id, other.caller)
    const left = () => countRows(fixture.db, 'raw_mails where blob = $1', blobs[0]?.blob)
    await waitFor(async () => (await left()) === 0, { what: 'the sweep' })
  })

  it('404: the second time, and for other inboxes', async () => {
    const id = await receiveMail(fixture, inbox)
    expect(await remove(id, other.caller)).toMatchObject(notFound)
    expect((await remove(id)).status).toBe(204)
    expect(await remove(id)).toMatchObject(notFound)
  })
})
