import { StreamedJson } from '@restante/service/http'
import { queryRows } from '@restante/testkit'
import { getMessages } from '../../../src/mailbox-api/batch-get.ts'
import { byIds, MESSAGE_ITEMS, THREAD_ITEMS } from '../../../src/mailbox-api/pages/items.ts'
import { type Fixture, openFixture, type TestInbox } from '../../fixture.ts'
import { receiveMail, restricted } from '../../mailbox-fixture.ts'
import { untilIndexed } from '../../search/search-fixture.ts'

const COPIES = 24
/** Of a page, and of the largest item. */
const [PAGE, ITEM] = [10 * 1024 * 1024, 1024 * 1024]

let fixture: Fixture
let inbox: TestInbox

/** Copies a message and its thread, a millisecond older each, with about a megabyte of files. */
const COPY = `
with wide as (
  select number, gen_random_uuid() as id, gen_random_uuid() as thread_id,
         (select jsonb_agg(jsonb_build_object('attachment_id', gen_random_uuid(), 'start', 0, 'end', 1, 'encoding', '7bit',
                   'size', 1, 'content_type', 'a/b', 'filename', (select string_agg(md5(number || '-' || n || '-' || part), '')
                                                                     from generate_series(1, 50) as part)))
            from generate_series(1, 500) as n) as files
    from generate_series(1, ${COPIES}) as number),
thread as (
  insert into threads
  select copy.* from wide, threads, jsonb_populate_record(threads, jsonb_build_object('id', wide.thread_id,
           'attachments', files, 'timestamp', threads."timestamp" - number * interval '1 ms')) as copy
   where threads.inbox_uid = $1),
message as (
  insert into messages
  select copy.* from wide, messages, jsonb_populate_record(messages, jsonb_build_object('id', wide.id,
           'thread_id', wide.thread_id, 'message_id', '<' || wide.id || '@x>', 'header_id', '<' || wide.id || '@x>',
           'digest', wide.id, 'attachments', files, 'blob', wide.id,
           'timestamp', messages."timestamp" - number * interval '1 ms')) as copy
   where messages.inbox_uid = $1),
body as (insert into message_bodies (id, text, headers) select id, 'x', '{}' from wide)
insert into unindexed_messages select id from wide`

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
  await receiveMail(fixture, inbox, { subject: 'Budget' })
  await queryRows(fixture.db, COPY, inbox.inbox_uid)
  await untilIndexed(fixture)
})
afterAll(() => fixture.stop())

describe('a list or a search of items that are very large', () => {
  it.each([
    ['messages', 'list', ''],
    ['messages', 'list', '&subject=budget'],
    ['messages', 'search', '&q=budget'],
    ['threads', 'list', ''],
    ['threads', 'list', '&subject=budget'],
    ['threads', 'search', '&q=budget'],
  ] as const)('has short pages, which have all of them in order: %s.%s%s', async (what, how, filter) => {
    const times: string[] = []
    let pages = 0
    for (let token: string | undefined, more = true; more; more = token !== undefined) {
      const folder = how === 'search' ? `/${what}/search` : `/${what}`
      const path = `${folder}?limit=100${filter}${token === undefined ? '' : `&page_token=${token}`}`
      const { body } = await fixture.call(inbox.caller, `${what}.${how}`, 'GET', path)
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(2 * PAGE + ITEM)
      expect(body.count).toBe(body[what].length)
      times.push(...body[what].map(({ timestamp }: { timestamp: string }) => timestamp))
      token = body.next_page_token
      pages++
    }
    expect(pages).toBeGreaterThan(1)
    expect(times).toHaveLength(COPIES + 1)
    expect(times).toEqual(times.toSorted().toReversed())
  })
})

describe('a batch of messages that are very large', () => {
  it('has all of them in order, of which about 10 MB at a time are read', async () => {
    const rows = await queryRows<{ message_id: string }>(
      fixture.db,
      'select message_id from messages where inbox_uid = $1 order by id desc',
      inbox.inbox_uid,
    )
    const ids = rows.map(({ message_id }) => message_id)
    const read: number[] = []
    const db = new Proxy(fixture.db, {
      get(target, name) {
        if (name !== 'query') return Reflect.get(target, name, target)
        return async (...query: Parameters<typeof target.query>) => {
          const found = await target.query(...query)
          read.push(Buffer.byteLength(JSON.stringify(found)))
          return found
        }
      },
    })
    const batch = await getMessages(db, inbox.caller, ids)
    if (!(batch instanceof StreamedJson)) throw new Error('The whole batch was read at once.')
    expect(read).toHaveLength(1)
    let text = ''
    for await (const part of batch.parts) text += part
    expect(Math.max(...read)).toBeLessThan(2 * PAGE + ITEM)
    const answer = JSON.parse(text)
    expect(answer).toMatchObject({ limit: COPIES + 1, count: COPIES + 1 })
    expect(answer.messages.map(({ message_id }: { message_id: string }) => message_id)).toEqual(ids)
    const { body } = await fixture.call(inbox.caller, 'messages.batchGet', 'POST', '/messages/batch-get', {
      message_ids: ids,
    })
    expect(body).toEqual(answer)
  })
})

describe('what is hidden after it was found', () => {
  const label = (table: string, labels: readonly string[]) =>
    queryRows(fixture.db, `update ${table} set labels = $2 where inbox_uid = $1`, inbox.inbox_uid, labels)

  it('is not in the rest of a batch, for a key that may not see its label', async () => {
    const rows = await queryRows<{ message_id: string }>(
      fixture.db,
      'select message_id from messages where inbox_uid = $1',
      inbox.inbox_uid,
    )
    const ids = rows.map(({ message_id }) => message_id)
    const batch = await getMessages(fixture.db, restricted(inbox.caller), ids)
    if (!(batch instanceof StreamedJson)) throw new Error('The whole batch was read at once.')
    await label('messages', ['received', 'spam'])
    let text = ''
    for await (const part of batch.parts) text += part
    expect(JSON.parse(text)).toEqual({ limit: ids.length, count: 0, messages: [] })
  })

  it.each([
    ['messages', MESSAGE_ITEMS],
    ['threads', THREAD_ITEMS],
  ] as const)('is not in a page of a search: %s', async (table, items) => {
    const shown = async () => {
      const own = await queryRows<{ id: string }>(
        fixture.db,
        `select id from ${table} where inbox_uid = $1`,
        inbox.inbox_uid,
      )
      const ids = own.map(({ id }) => id)
      return (await queryRows(fixture.db, byIds<unknown>(items), ids)).length
    }
    await label(table, ['received'])
    expect(await shown()).toBeGreaterThan(0)
    await label(table, ['received', 'trash'])
    expect(await shown()).toBe(0)
  })
})
