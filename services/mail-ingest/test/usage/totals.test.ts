import { randomInt, randomUUID } from 'node:crypto'
import { deliverOnce } from '@restante/messaging/testing'
import { sql } from '@restante/service/database'
import { inboxDeletedEvent, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, sentCopy, tenancyOf } from '../mailbox-fixture.ts'

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

interface Totals {
  readonly messages: number
  readonly threads: number
  readonly bytes: number
}

// One statement, so one snapshot: also while mail is being stored.
const BOTH = sql<{ held: Totals; summed: Totals }, [inboxUid: string]>(`
select (select json_build_object('messages', coalesce(sum(message_count), 0), 'threads', count(*), 'bytes', coalesce(sum(size), 0))
          from threads where inbox_uid = $1::uuid) as held,
       (select json_build_object(
                 'messages', coalesce(sum(sign), 0),
                 'threads', coalesce(sum(sign) filter (where whole), 0),
                 'bytes', coalesce(sum(sign * size), 0))
          from (select case type when 'message.stored' then 1 else -1 end as sign,
                       (payload::jsonb ->> 'size')::int as size,
                       coalesce(payload::jsonb ->> 'thread_created', payload::jsonb ->> 'thread_deleted')::boolean as whole
                  from outbox
                 where topic = 'mail.messages' and key = $1::uuid::text and type in ('message.stored', 'message.deleted')
               ) as changes) as summed`)

/** What the inbox holds, which is what its events add up to. */
async function totals(): Promise<Totals> {
  const [both] = await fixture.db.query(BOTH, inbox.inbox_uid)
  expect(both?.summed).toEqual(both?.held)
  return both?.held ?? { messages: -1, threads: -1, bytes: -1 }
}

interface StoredEvent {
  readonly subject: string
  readonly time: Date
  readonly payload: Readonly<Record<string, unknown>>
}

function storedEvents(): Promise<StoredEvent[]> {
  const events = "select subject, time, payload::json from outbox where type = 'message.stored' and key = $1"
  return queryRows<StoredEvent>(fixture.db, `${events} order by position`, inbox.inbox_uid)
}

const subjects = () => Array.from({ length: 8 }, () => `one of several ${randomUUID()}`)

/** Mails that arrive together, the later ones as answers to the first, which is not stored yet. */
async function receiveTogether(answered = `<${randomUUID()}@customer.test>`): Promise<string[]> {
  return Promise.all(subjects().map((subject) => receiveMail(fixture, inbox, { subject, inReplyTo: answered })))
}

const remove = (operation: 'messages.delete' | 'threads.delete', path: string) =>
  fixture.call(inbox.caller, operation, 'DELETE', path)

describe('message.stored', () => {
  it('tells of each message once, received or sent, with its size, when it was stored and whether its thread is new', async () => {
    const received = await receiveMail(fixture, inbox)
    const [row] = await queryRows<{ thread_id: string }>(
      fixture.db,
      'select thread_id from messages where inbox_uid = $1',
      inbox.inbox_uid,
    )
    const copy = await sentCopy(fixture, inbox, { thread_id: row?.thread_id ?? '', in_reply_to: received })
    const other = await sentCopy(fixture, inbox)
    for (const sent of [copy, copy, other, other]) await fixture.peer('mail-ingest.placeSent', sent)
    const { organization_id, pod_id, inbox_uid } = inbox
    const rows = await queryRows<Record<string, unknown> & { created_at: Date }>(
      fixture.db,
      'select thread_id, message_id, direction, size, created_at from messages where inbox_uid = $1 order by created_at',
      inbox_uid,
    )
    expect((await storedEvents()).map(({ subject, time, payload }) => ({ subject, time, payload }))).toEqual(
      rows.map(({ created_at, ...message }) => ({
        subject: message['message_id'],
        time: created_at,
        payload: {
          organization_id,
          pod_id,
          inbox_uid,
          ...message,
          thread_created: message['message_id'] !== copy.message_id,
          stored_at: created_at.toISOString(),
        },
      })),
    )
    expect(rows.map(({ direction }) => direction)).toEqual(['received', 'sent', 'sent'])
  })

  it('says of one message only that its thread is new, when several of them arrive together', async () => {
    await receiveTogether()
    expect(await totals()).toMatchObject({ messages: 8, threads: 1 })
    expect((await storedEvents()).map(({ payload }) => payload['thread_created'])).toEqual([
      true,
      ...Array(7).fill(false),
    ])
  })

  it('says so again of a message that joins a thread of which all were deleted', async () => {
    const copy = await sentCopy(fixture, inbox)
    await fixture.peer('mail-ingest.placeSent', copy)
    expect((await remove('messages.delete', pathOf(copy.message_id))).status).toBe(204)
    expect(await totals()).toEqual({ messages: 0, threads: 0, bytes: 0 })
    await fixture.peer('mail-ingest.placeSent', await sentCopy(fixture, inbox, { thread_id: copy.thread_id }))
    expect(await totals()).toMatchObject({ messages: 1, threads: 1 })
    expect((await storedEvents()).map(({ payload }) => payload['thread_created'])).toEqual([true, true])
  })
})

describe('the changes of a mailbox', () => {
  it('add up to what it holds at any time, whatever its history', async () => {
    const known: string[] = []
    const some = () => known[randomInt(known.length)] ?? ''
    const threadOf = async (id: string) =>
      String((await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))).body?.thread_id)
    const place = async (answered?: string) => {
      const joined = answered !== undefined && { in_reply_to: answered, thread_id: await threadOf(answered) }
      const copy = await sentCopy(fixture, inbox, { ...joined, text: 'x'.repeat(randomInt(10_000)) })
      await Promise.all([1, 2].map(() => fixture.peer('mail-ingest.placeSent', copy)))
      return copy.message_id
    }
    const stored = async () =>
      (
        await queryRows<{ message_id: string }>(
          fixture.db,
          'select message_id from messages where inbox_uid = $1 order by id',
          inbox.inbox_uid,
        )
      ).map(({ message_id }) => message_id)
    const steps: (() => Promise<unknown>)[] = [
      () => receiveMail(fixture, inbox, { text: 'y'.repeat(randomInt(10_000)) }),
      // Older than what it answers, so that the totals of its thread are made in another way.
      () => receiveMail(fixture, inbox, { inReplyTo: some(), date: new Date('2020-01-01T00:00:00Z') }),
      () => receiveTogether(some()),
      () => place(),
      () => place(some()),
      () => remove('messages.delete', pathOf(some())),
      () => Promise.all([some(), some()].map((id) => remove('messages.delete', pathOf(id)))),
      async () => remove('threads.delete', `/threads/${await threadOf(some())}`),
      async () => {
        const deleted = remove('threads.delete', `/threads/${await threadOf(some())}`)
        await Promise.all([receiveMail(fixture, inbox, { inReplyTo: some() }), deleted])
      },
    ]
    for (let step = 0; step < 40; step++) {
      known.splice(0, known.length, ...(await stored()))
      const next = known.length < 3 ? randomInt(2) * 3 : randomInt(steps.length)
      const [, held] = await Promise.all([steps[next]?.(), totals()])
      expect(held.messages).toBeGreaterThanOrEqual(0)
      expect((await totals()).messages).toBe((await stored()).length)
    }
  })
})

describe('mail-ingest.countMailboxes', () => {
  const all = async (limit: number) => {
    const counted: unknown[] = []
    let pages = 0
    for (let next: string | undefined, more = true; more; more = next !== undefined) {
      const before = Date.now()
      const page = await fixture.metricsPeer('mail-ingest.countMailboxes', {
        limit,
        ...(next !== undefined && { after: next }),
      })
      expect(Date.parse(page.at)).toBeGreaterThanOrEqual(before - 1_000)
      expect(Date.parse(page.at)).toBeLessThanOrEqual(Date.now() + 1_000)
      counted.push(...page.mailboxes)
      next = page.next
      pages++
    }
    return { counted, pages }
  }

  it('200: pages through every mailbox that has messages, and leaves out those of deleted inboxes', async () => {
    const inboxes = [inbox, await fixture.inbox(), await fixture.inbox()]
    const empty = await fixture.inbox()
    for (const one of inboxes) await receiveMail(fixture, one)
    await receiveMail(fixture, inbox, { text: 'another' })
    const { organization_id, pod_id, inbox_uid } = inbox
    const ours = { organization_id, pod_id, inbox_uid, ...(await totals()) }
    const { counted, pages } = await all(1)
    expect(pages).toBe(counted.length + 1)
    expect(counted).toEqual((await all(1_000)).counted)
    expect(counted).toContainEqual(ours)
    expect(counted).not.toContainEqual(expect.objectContaining({ inbox_uid: empty.inbox_uid }))
    expect(counted).toHaveLength((await queryRows(fixture.db, 'select distinct inbox_uid from threads')).length)
    const tenancy = await tenancyOf(fixture)
    const scope = { organizationId: organization_id, podId: pod_id, inboxUid: inbox_uid, address: inbox.address }
    await deliverOnce(tenancy.consumer, inboxDeletedEvent(scope))
    const isCounted = async () => (await all(2)).counted.some((one) => Object.is(uidOf(one), inbox_uid))
    await waitFor(async () => !(await isCounted()), { what: 'the deletion' })
    expect((await all(2)).counted).toEqual(counted.filter((one) => uidOf(one) !== inbox_uid))
  })
})

function uidOf(counted: unknown): string {
  return (counted as TestInbox).inbox_uid
}
