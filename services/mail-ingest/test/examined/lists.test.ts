import { randomUUID } from 'node:crypto'
import { Cursors } from '@restante/service/http'
import { queryRows } from '@restante/testkit'
import { listMessages } from '../../src/mailbox-api/message-list.ts'
import { listThreads } from '../../src/mailbox-api/thread-list.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { receiveMail } from '../mailbox-fixture.ts'
import { countingRows } from './counting-rows.ts'

/** More than are compared one by one before the index is asked, and many times what a page holds. */
const COPIES = 4_000
/** Of others, so that neither inbox is a large part of all. */
const OTHERS = 24_000
const COMPARED = 2_000
const FEW = 120

/** Copies the only message of an inbox and its thread, a minute older each, each in a thread of its own. */
const COPY = `
with copies as (
  select number, md5(number || messages.id::text)::uuid as id, messages."timestamp" - number * interval '1 minute' as "timestamp"
    from messages, generate_series(1, $2::int) as number where messages.inbox_uid = $1),
added as (
  insert into threads
  select copy.* from copies, threads,
         jsonb_populate_record(threads, jsonb_build_object('id', copies.id, 'timestamp', copies."timestamp")) as copy
   where threads.inbox_uid = $1)
insert into messages
select copy.* from copies, messages,
       jsonb_populate_record(messages, jsonb_build_object('id', copies.id, 'thread_id', copies.id, 'message_id', '<' || number || '@x>',
         'header_id', '<' || number || '@x>', 'digest', number, 'blob', number, 'timestamp', copies."timestamp")) as copy
 where messages.inbox_uid = $1`

let fixture: Fixture
/** One of many messages without a label and a sender that are frequent in the other one, of the same organization. */
let [plain, busy]: TestInbox[] = []
const cursors = new Cursors(randomUUID())

beforeAll(async () => {
  fixture = await openFixture()
  plain = await filled('Ada Ray <ada@customer.test>')
  busy = await filled('Frequent Writer <often@writer.test>')
  await filled('Bo Lee <bo@customer.test>', OTHERS)
  for (const table of ['messages', 'threads']) {
    await queryRows(
      fixture.db,
      `update ${table} set labels = labels || '{frequent}' where inbox_uid = $1`,
      busy.inbox_uid,
    )
    await queryRows(fixture.db, `vacuum analyze ${table}`)
  }
})
afterAll(() => fixture.stop())

async function filled(from: string, copies = COPIES): Promise<TestInbox> {
  const inbox = await fixture.inbox()
  await receiveMail(fixture, inbox, { from })
  await queryRows(fixture.db, COPY, inbox.inbox_uid, copies)
  return inbox
}

function callerOf(inbox: TestInbox | undefined) {
  if (inbox === undefined) throw new Error('the inbox was not filled')
  return inbox.caller
}

async function messagesOf(inbox: TestInbox | undefined, query: Parameters<typeof listMessages>[2]) {
  const { db, examined } = countingRows(fixture.db, 'messages')
  const { count } = await listMessages({ db, cursors }, callerOf(inbox), query)
  return { count, examined: examined() }
}

async function threadsOf(caller: Parameters<typeof listThreads>[1], query: Parameters<typeof listThreads>[2]) {
  const { db, examined } = countingRows(fixture.db, 'threads')
  const { count } = await listThreads({ db, cursors }, caller, query)
  return { count, examined: examined() }
}

describe('a list looks at few rows more than a page', () => {
  it('for a label that most have', async () => {
    const found = await messagesOf(busy, { labels: ['frequent'] })
    expect(found.count).toBe(50)
    expect(found.examined).toBeLessThan(2 * FEW)
  })

  it('when what it does not show is newer than all that it shows', async () => {
    const hide = `update threads set labels = labels || '{spam}' where inbox_uid = $1 and "timestamp" > now() - interval '3900 minutes'`
    for (const inbox of [plain, busy]) await queryRows(fixture.db, hide, inbox?.inbox_uid)
    await queryRows(fixture.db, 'vacuum analyze threads')
    const { inbox: _, ...pod } = callerOf(plain)
    const { pod_id: __, ...organization } = pod
    for (const caller of [callerOf(plain), pod, organization]) {
      const found = await threadsOf(caller, {})
      expect(found.count).toBe(50)
      expect(found.examined).toBeLessThan(FEW)
    }
  })
})

describe('a list looks at the newest rows, and then at few', () => {
  it('for a label that is frequent in other inboxes', async () => {
    const found = await messagesOf(plain, { labels: ['frequent'] })
    expect(found.count).toBe(0)
    expect(found.examined).toBeLessThan(COMPARED + FEW)
  })

  it.each([{ query: { labels: ['frequent'] } }, { query: { senders: ['often@writer'] } }])(
    'for $query of threads in other inboxes',
    async ({ query }) => {
      const found = await threadsOf(callerOf(plain), { ...query, include_spam: true })
      expect(found.count).toBe(0)
      expect(found.examined).toBeLessThan(COMPARED + FEW)
    },
  )
})
