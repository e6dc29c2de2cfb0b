import { randomUUID } from 'node:crypto'
import { store } from '../src/mailbox/store.ts'
import { totalsOf } from '../src/mailbox/thread-totals.ts'
import { pathOf, receiveMail, sentCopy } from './mailbox-fixture.ts'
import { openStage, type Stage, type TestInbox } from './stage.ts'

let stage: Stage
let inbox: TestInbox

beforeAll(async () => {
  stage = await openStage()
}, 60_000)
afterAll(() => stage.stop(), 30_000)
beforeEach(async () => {
  inbox = await stage.inbox()
})

describe('a thread in which everything happens at once', () => {
  it('adds up to its messages in the end, and each received event counted one more', async () => {
    const { db } = stage
    const date = (day: number) => new Date(Date.UTC(2026, 0, day))
    const root = await receiveMail(stage, inbox, { subject: 'root', date: date(10) })
    const threads = await stage.call(inbox.caller, 'threads.list', 'GET', '/threads')
    const [{ thread_id }] = threads.body.threads
    const events = await stage.collect('mail.messages')
    const answers = Array.from({ length: 8 }, (_, index) =>
      receiveMail(stage, inbox, {
        from: `Writer ${index % 3} <w${index % 3}@x.test>`,
        cc: `c${index}@y.test`,
        subject: `answer ${randomUUID()}`,
        inReplyTo: root,
        // Some are older than the root.
        date: date(index % 2 === 0 ? 5 + index : 11 + index),
      }),
    )
    const copies = [12, 3].map(async (day) => {
      const copy = await sentCopy(stage, inbox, { thread_id, timestamp: date(day).toISOString() })
      await stage.peer('mail-ingest.placeSent', copy)
    })
    const label = stage.call(inbox.caller, 'messages.update', 'PATCH', pathOf(root), { add_labels: ['busy'] })
    const [ids] = await Promise.all([Promise.all(answers), Promise.all(copies), label])
    const deletions = ids.slice(0, 3).map((id) => stage.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(id)))
    expect((await Promise.all(deletions)).map(({ status }) => status)).toEqual([204, 204, 204])

    const thread = await store.thread(db, thread_id)
    const totals = totalsOf(await store.members(db, thread_id))
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
