import { randomUUID } from 'node:crypto'
import { LIMITS } from '@restante/contracts/vocabulary'
import { queryRows } from '@restante/testkit'
import { uniteLabels } from '../../src/mailbox/changes.ts'
import type { ThreadTotals } from '../../src/mailbox/rows/rows.ts'
import { store } from '../../src/mailbox/store.ts'
import { extendTotals } from '../../src/mailbox/thread-totals.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, sentCopy } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

describe('a thread with many concurrent changes', () => {
  it('ends with totals that match its messages, and each received event counted one more', async () => {
    const { db } = fixture
    const date = (day: number) => new Date(Date.UTC(2026, 0, day))
    const root = await receiveMail(fixture, inbox, { subject: 'root', date: date(10) })
    const threads = await fixture.call(inbox.caller, 'threads.list', 'GET', '/threads')
    const [{ thread_id }] = threads.body.threads
    const events = await fixture.collect('mail.messages')
    const answers = Array.from({ length: 8 }, (_, index) =>
      receiveMail(fixture, inbox, {
        from: `Writer ${index % 3} <w${index % 3}@x.test>`,
        cc: `c${index}@y.test`,
        subject: `answer ${randomUUID()}`,
        inReplyTo: root,
        // Some are older than the root.
        date: date(index % 2 === 0 ? 5 + index : 11 + index),
      }),
    )
    const copies = [12, 3].map(async (day) => {
      const copy = await sentCopy(fixture, inbox, { thread_id, timestamp: date(day).toISOString() })
      await fixture.peer('mail-ingest.placeSent', copy)
    })
    const label = fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(root), { add_labels: ['busy'] })
    const [ids] = await Promise.all([Promise.all(answers), Promise.all(copies), label])
    const deletions = ids.slice(0, 3).map((id) => fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(id)))
    expect((await Promise.all(deletions)).map(({ status }) => status)).toEqual([204, 204, 204])

    const thread = await store.thread(db, thread_id)
    let totals: ThreadTotals | undefined
    for (const member of await store.newestMembers(db, thread_id)) totals = extendTotals(totals, member)
    expect(thread).toMatchObject({ ...totals, message_count: 8 })
    const counts: number[] = []
    for (const id of ids) {
      const event = await events.next(({ type, value }) => type === 'message.received' && value.includes(id), {
        what: id,
      })
      const { message, thread: after } = JSON.parse(event.value)
      expect(after.thread_id).toBe(message.thread_id)
      expect(event.value).not.toMatch(/[:,[]null/)
      counts.push(after.message_count)
    }
    expect(new Set(counts).size).toBe(ids.length)
  })
})

describe('a thread of mails with very many recipients and files', () => {
  it('keeps the newest within its bounds, however its mails are dated and deleted, and counts all of them', async () => {
    const { list, listBytes } = LIMITS.thread
    const people = (mail: number) =>
      Array.from({ length: 900 }, (_, index) => `${'N'.repeat(50)} <p${index}@m${mail}.test>`)
    const date = (day: number) => new Date(Date.UTC(2026, 0, day))
    const mail = (number: number, day: number, inReplyTo: string) =>
      receiveMail(fixture, inbox, {
        from: `w${number}@x.test`,
        to: [inbox.address, ...people(number)].join(', '),
        envelope: { from: 'w@x.test', to: inbox.address },
        inReplyTo,
        date: date(day),
      })
    const root = await receiveMail(fixture, inbox, { subject: 'root', date: date(2) })
    const ids: string[] = []
    for (const number of [1, 2, 3]) ids.push(await mail(number, 10 + number, root))
    const threads = await fixture.call(inbox.caller, 'threads.list', 'GET', '/threads')
    const [{ thread_id }] = threads.body.threads
    const read = async () => {
      const thread = await store.thread(fixture.db, thread_id)
      if (!thread) throw new Error('the thread is gone')
      const { recipients } = thread
      expect(recipients.length).toBeLessThanOrEqual(list)
      expect(Buffer.byteLength(recipients.join(''))).toBeLessThanOrEqual(listBytes)
      return thread
    }
    const grown = await read()
    expect(grown).toMatchObject({ message_count: 4, subject: 'root' })
    expect(grown.recipients).toEqual(expect.arrayContaining(people(3)))
    expect(grown.senders).toEqual(['Ada Ray <ada@customer.test>', 'w1@x.test', 'w2@x.test', 'w3@x.test'])

    await mail(4, 1, root)
    const dated = await read()
    expect(dated).toMatchObject({ message_count: 5, last_message_id: ids[2], timestamp: grown.timestamp })
    expect(dated.subject).not.toBe('root')
    expect(dated.senders[0]).toBe('w4@x.test')
    expect(dated.recipients).toEqual(expect.arrayContaining(people(3)))

    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(ids[2] ?? ''))
    const shrunk = await read()
    expect(shrunk).toMatchObject({ message_count: 4, last_message_id: ids[1], timestamp: date(12) })
    expect(shrunk.recipients).toEqual(expect.arrayContaining(people(2)))
    const text = 'select sum(size)::int as size from messages where thread_id = $1'
    expect(await queryRows(fixture.db, text, thread_id)).toEqual([{ size: shrunk.size }])
  })
})

describe('a thread that is longer than its lists', () => {
  /** Adds copies of a message, each a millisecond younger than the one before. */
  const lengthen = (messageId: string, copies: number) =>
    queryRows(
      fixture.db,
      `with copy as (
         insert into messages
         select (jsonb_populate_record(messages, jsonb_build_object('id', gen_random_uuid(),
                  'message_id', '<copy-' || number || '-' || substr($1, 2), 'sender', 'w' || number || '@x.test',
                  'timestamp', "timestamp" + number * interval '1 ms'))).*
           from messages, generate_series(1, $2::int) as number where message_id = $1)
       update threads
          set (message_count, size, "timestamp", received_timestamp) =
              (select message_count + $2, threads.size + $2 * messages.size, "timestamp" + $2 * interval '1 ms',
                      "timestamp" + $2 * interval '1 ms'
                 from messages where message_id = $1)
        where id in (select thread_id from messages where message_id = $1)`,
      messageId,
      copies,
    )

  it('keeps exact totals, subject and labels when its messages are deleted, from either end', async () => {
    const { db } = fixture
    const date = (day: number) => new Date(Date.UTC(2026, 0, day))
    const root = await receiveMail(fixture, inbox, { subject: 'root', date: date(1) })
    const second = await receiveMail(fixture, inbox, { subject: 'second', inReplyTo: root, date: date(2) })
    const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(root))
    const { thread_id } = body
    const sent = await sentCopy(fixture, inbox, { thread_id, timestamp: date(3).toISOString() })
    await fixture.peer('mail-ingest.placeSent', sent)
    const label = (id: string, name: string) =>
      fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels: [name] })
    await label(root, 'first-only')
    await label(second, 'then')
    await lengthen(second, LIMITS.thread.messages + 5)
    // Its lists keep a file of a message that is older than those of which they are made.
    const file = [{ attachment_id: randomUUID(), start: 0, end: 1, encoding: '7bit', size: 1, content_type: 'a/b' }]
    await queryRows(
      db,
      'with message as (update messages set attachments = $2 where message_id = $1) update threads set attachments = $2 where id = $3',
      root,
      JSON.stringify(file),
      thread_id,
    )
    const remove = async (id: string) => {
      const before = await store.thread(db, thread_id)
      expect((await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(id))).status).toBe(204)
      const after = await store.thread(db, thread_id)
      await uniteLabels(db, thread_id, new Date())
      const whole = await store.thread(db, thread_id)
      expect(after).toMatchObject({ ...(await store.counts(db, thread_id)), labels: whole?.labels })
      return { before, after }
    }
    const first = await remove(root)
    expect(first.before).toMatchObject({ subject: 'root', labels: expect.arrayContaining(['first-only']) })
    expect(first.after).toMatchObject({ subject: 'second', labels: ['received', 'unread', 'then', 'sent', 'campaign'] })
    expect(first.after).toMatchObject({ senders: first.before?.senders, preview: first.before?.preview })
    expect([first.before?.attachments, first.after?.attachments]).toEqual([file, []])
    const newest = `<copy-${LIMITS.thread.messages + 5}-${second.slice(1)}`
    expect((await remove(newest)).after?.timestamp).not.toEqual(first.after?.timestamp)
    expect((await remove(sent.message_id)).after).toMatchObject({ sent_timestamp: null })
    expect((await remove(second)).after).toMatchObject({ message_count: LIMITS.thread.messages + 4 })
  })
})
