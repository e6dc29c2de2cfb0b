import { randomUUID } from 'node:crypto'
import { callerOf, countRows, queryRows, type TopicCollection, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, restricted, sentCopy } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox
let events: TopicCollection

beforeAll(async () => {
  fixture = await openFixture()
  events = await fixture.collect('mail.messages')
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

/** A thread of two messages, the first of which has an attachment. */
async function conversation(): Promise<{ first: string; second: string; path: string }> {
  const subject = randomUUID()
  const attachments = [{ filename: 'a.txt', content: 'the file' }]
  const first = await receiveMail(fixture, inbox, { subject: `question ${subject}`, attachments })
  const second = await receiveMail(fixture, inbox, { subject: `answer ${subject}`, inReplyTo: first })
  const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(first))
  return { first, second, path: `/threads/${body.thread_id}` }
}

/** Adds copies of a message to its thread, as if they had arrived after it. */
async function lengthen(messageId: string, copies: number): Promise<void> {
  await queryRows(
    fixture.db,
    `with copy as (
       insert into messages
       select (jsonb_populate_record(messages, jsonb_build_object(
                'id', gen_random_uuid(), 'message_id', '<copy-' || number || '-' || substr($1, 2)))).*
         from messages, generate_series(1, $2::int) as number
        where message_id = $1),
     held as (
       update raw_mails set refs = refs + $2 where blob in (select blob from messages where message_id = $1))
     update threads set message_count = message_count + $2
      where id in (select thread_id from messages where message_id = $1)`,
    messageId,
    copies,
  )
}

const get = (path: string, caller = inbox.caller) => fixture.call(caller, 'threads.get', 'GET', path)
const update = (path: string, body: object, caller = inbox.caller) =>
  fixture.call(caller, 'threads.update', 'PATCH', path, body)
const remove = (path: string, caller = inbox.caller) => fixture.call(caller, 'threads.delete', 'DELETE', path)
const notFound = { status: 404, body: { code: 'not_found', message: 'Thread not found' } }
const NONE = '/threads/0a0a0a0a-0000-4000-8000-000000000000'

describe('threads.update', () => {
  it.each(['inbox', 'pod', 'organization'])(
    '200: changes the labels of all messages, by a key of the %s',
    async (tier) => {
      const { first, second, path } = await conversation()
      const { organization_id, pod_id } = inbox
      const callers = {
        inbox: inbox.caller,
        pod: callerOf({ organization_id, pod_id }),
        organization: callerOf({ organization_id }),
      }
      const caller = Object.entries(callers).find(([name]) => name === tier)?.[1]
      await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(first), { add_labels: ['Vip'] })
      const answer = await update(path, { add_labels: ['done', 'vip'], remove_labels: ['unread'] }, caller)
      expect(answer).toMatchObject({ status: 200, body: { labels: ['received', 'vip', 'done'] } })
      expect(path).toBe(`/threads/${answer.body.thread_id}`)
      const { body } = await get(path)
      expect(body.messages.map(({ labels }) => labels)).toEqual([
        ['received', 'vip', 'done'],
        ['received', 'done', 'vip'],
      ])
      const logged = await waitFor(
        () => {
          const ours = events.records.filter(
            ({ headers, type }) => headers['ce_subject'] === second && type.startsWith('label.'),
          )
          return ours.length === 5 && ours.map(({ type, value }) => `${type} ${JSON.parse(value).label}`)
        },
        { what: 'the label events' },
      )
      expect(logged.slice(2)).toEqual(['label.added done', 'label.added vip', 'label.removed unread'])
    },
  )

  it('422: for 100 messages, which stay as they are; 99 are changed', async () => {
    const { first, path } = await conversation()
    await lengthen(first, 97)
    expect((await update(path, { add_labels: ['ninety-nine'] })).status).toBe(200)
    expect((await get(path)).body.messages.every(({ labels }) => labels.includes('ninety-nine'))).toBe(true)
    await lengthen(first.replace('<', '<copy-1-'), 1)
    const refused = await update(path, { add_labels: ['hundred'] })
    expect(refused).toMatchObject({ status: 422, body: { code: 'unprocessable' } })
    expect(refused.body.fix).toContain('batch-update')
    expect((await get(path)).body.labels).not.toContain('hundred')
  })

  it('400: without labels, and for a system label', async () => {
    const { path } = await conversation()
    for (const body of [{}, { add_labels: [], remove_labels: [] }, { remove_labels: ['received'] }])
      expect(await update(path, body)).toMatchObject({ status: 400, body: { code: 'validation_error' } })
  })

  it('404: for a thread that does not exist, or of which the key may not see a message', async () => {
    const { second, path } = await conversation()
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(second), { add_labels: ['trash'] })
    for (const answer of [
      await update(path, { add_labels: ['a'] }, restricted(inbox.caller)),
      await update(path, { add_labels: ['a'] }, callerOf()),
      await update(NONE, { add_labels: ['a'] }),
    ])
      expect(answer).toMatchObject(notFound)
    expect((await get(path)).body.labels).not.toContain('a')
  })
})

describe('threads.delete', () => {
  it('204: deletes a thread with all its messages, however many there are', async () => {
    const { first, second, path } = await conversation()
    await lengthen(first, 450)
    expect(await remove(path)).toMatchObject({ status: 204, text: '' })
    expect(await get(path)).toMatchObject(notFound)
    expect(await countRows(fixture.db, 'messages where inbox_uid = $1', inbox.inbox_uid)).toBe(0)
    for (const id of [first, second])
      expect((await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))).status).toBe(404)
    const deleted = await waitFor(
      () => {
        const ours = events.records.filter(({ type, key }) => type === 'message.deleted' && key === inbox.inbox_uid)
        return ours.length === 452 && ours.map(({ value }) => JSON.parse(value).thread_deleted)
      },
      { what: 'an event for each message' },
    )
    expect(deleted.indexOf(true)).toBe(451)
    const unused = () => countRows(fixture.db, 'raw_mails where size > 0 and blob not in (select blob from messages)')
    await waitFor(async () => (await unused()) === 0, { what: 'the sweep' })
  })

  it('404: for a thread that does not exist, or of which the key may not see a message', async () => {
    const { second, path } = await conversation()
    await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(second), { add_labels: ['trash'] })
    for (const answer of [
      await remove(path, restricted(inbox.caller)),
      await remove(path, callerOf()),
      await remove(NONE),
    ])
      expect(answer).toMatchObject(notFound)
    expect((await get(path)).body.message_count).toBe(2)
  })
})

describe('a message that was sent into a thread before its deletion', () => {
  it('is deleted with it, also when its copy and what became of it arrive later', async () => {
    const { path } = await conversation()
    const thread_id = path.slice('/threads/'.length)
    const [late, other] = [await sentCopy(fixture, inbox, { thread_id }), await sentCopy(fixture, inbox)]
    expect((await remove(path)).status).toBe(204)
    for (const copy of [late, other, late]) await fixture.peer('mail-ingest.placeSent', copy)
    expect(await remove(path)).toMatchObject(notFound)
    const stored = 'select message_id from messages where message_id = any($1)'
    expect(await queryRows(fixture.db, stored, [late.message_id, other.message_id])).toEqual([
      { message_id: other.message_id },
    ])
    const gone = 'select message_id from tombstones where message_id = any($1)'
    expect(await queryRows(fixture.db, gone, [late.message_id, other.message_id])).toEqual([
      { message_id: late.message_id },
    ])
  })
})

describe('a thread whose deletion was broken off', () => {
  it('gets what is sent into it, since a part of it remains', async () => {
    const { first, path } = await conversation()
    const thread_id = path.slice('/threads/'.length)
    await lengthen(first, 450)
    // The second batch of 200 fails.
    await queryRows(
      fixture.db,
      `create function refuse() returns trigger language plpgsql as $$ begin
         if (select count(*) from messages where thread_id = old.thread_id) < 253 then raise exception 'refused'; end if;
         return old;
       end $$`,
    )
    await queryRows(
      fixture.db,
      'create trigger refused before delete on messages for each row execute function refuse()',
    )
    expect((await remove(path)).status).toBe(500)
    await queryRows(fixture.db, 'drop trigger refused on messages')
    const copy = await sentCopy(fixture, inbox, { thread_id })
    await fixture.peer('mail-ingest.placeSent', copy)
    const { body } = await get(path)
    expect(body.message_count).toBe(450 + 2 - 200 + 1)
    expect((await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(copy.message_id))).body).toMatchObject({
      thread_id,
    })
    expect((await remove(path)).status).toBe(204)
    expect(await remove(path)).toMatchObject(notFound)
  })
})

describe('threads.getAttachment', () => {
  it('200: a link to the file of one of its messages', async () => {
    const { path } = await conversation()
    const [attachment] = (await get(path)).body.attachments ?? []
    const { body } = await fixture.call(
      inbox.caller,
      'threads.getAttachment',
      'GET',
      `${path}/attachments/${attachment?.attachment_id}`,
    )
    expect(body).toMatchObject({ ...attachment, expires_at: expect.any(String) })
    const file = await fetch(body.download_url.replace('http://public.test/v0', fixture.url))
    expect(await file.text()).toBe('the file')
  })

  it('404: for an attachment of another thread, and for a text that is no id', async () => {
    const [ours, theirs] = [await conversation(), await conversation()]
    const [foreign] = (await get(theirs.path)).body.attachments ?? []
    for (const id of [foreign?.attachment_id, 'a.txt']) {
      const answer = await fixture.call(inbox.caller, 'threads.getAttachment', 'GET', `${ours.path}/attachments/${id}`)
      expect(answer).toMatchObject({ status: 404, body: { message: 'Attachment not found' } })
    }
  })
})
