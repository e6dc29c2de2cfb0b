import { LIMITS } from '@restante/contracts/vocabulary'
import { queryRows } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

const { list, listBytes } = LIMITS.thread

let fixture: Fixture
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
})
afterAll(() => fixture.stop())

const change = async (id: string, body: { add_labels?: string[]; remove_labels?: string[] }) => {
  const { status } = await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), body)
  expect(status).toBe(200)
}
const threadOf = async (id: string) => {
  const { body } = await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))
  const thread = await fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${body.thread_id}`)
  return { id: body.thread_id as string, labels: thread.body.labels as string[] }
}
const bytesOf = (labels: readonly string[]) => Buffer.byteLength(labels.join(''))

describe('a thread of messages with very many labels', () => {
  it('keeps the first of them, and all that the service uses, and mail still joins it', async () => {
    const root = await receiveMail(fixture, inbox, { subject: 'root' })
    const ids = [root]
    for (let more = 0; more < 4; more++) ids.push(await receiveMail(fixture, inbox, { inReplyTo: root }))
    for (const [number, id] of ids.entries()) {
      const add_labels = Array.from({ length: 250 }, (_, index) => `${number}-${index}-${'\u6f22'.repeat(240)}`)
      await change(id, { add_labels })
    }
    const { id, labels } = await threadOf(root)
    expect(labels.length).toBeGreaterThan(100)
    expect(labels.length).toBeLessThanOrEqual(list)
    expect(bytesOf(labels)).toBeLessThanOrEqual(listBytes)
    expect(labels).toEqual(expect.arrayContaining(['received', 'unread', expect.stringMatching(/^0-0-/)]))
    const answer = await receiveMail(fixture, inbox, { subject: 'the answer', inReplyTo: root })
    await change(answer, { add_labels: ['trash'] })
    const after = await threadOf(answer)
    expect(after).toEqual({ id, labels: [...labels, 'trash'] })
    await change(answer, { remove_labels: ['trash'] })
    expect(await threadOf(answer)).toEqual({ id, labels })
  })

  it('has them in the order of its messages, whichever got one first', async () => {
    const root = await receiveMail(fixture, inbox, { subject: 'in order' })
    const second = await receiveMail(fixture, inbox, { inReplyTo: root })
    await change(second, { add_labels: ['later', 'both'] })
    await change(root, { add_labels: ['earlier', 'both'] })
    expect((await threadOf(root)).labels).toEqual(['received', 'unread', 'earlier', 'both', 'later'])
    await change(root, { remove_labels: ['both'] })
    expect((await threadOf(root)).labels).toEqual(['received', 'unread', 'earlier', 'later', 'both'])
  })

  it.each(['short', 'long'])('follows every change of its messages, when it is %s', async (length) => {
    const root = await receiveMail(fixture, inbox, { subject: `another ${length}` })
    const second = await receiveMail(fixture, inbox, { inReplyTo: root })
    const { id } = await threadOf(root)
    if (length === 'long') await queryRows(fixture.db, 'update threads set message_count = 1000 where id = $1', id)
    const labelsAfter = async (of: string, body: Parameters<typeof change>[1]) => {
      await change(of, body)
      return new Set((await threadOf(root)).labels)
    }
    const all = (...labels: string[]) => new Set(['received', 'unread', ...labels])
    expect(await labelsAfter(root, { add_labels: ['a', 'b'] })).toEqual(all('a', 'b'))
    expect(await labelsAfter(second, { add_labels: ['b', 'c'] })).toEqual(all('a', 'b', 'c'))
    expect(await labelsAfter(root, { remove_labels: ['b', 'a'] })).toEqual(all('b', 'c'))
    expect(await labelsAfter(second, { remove_labels: ['b', 'unread'] })).toEqual(all('c'))
    expect(await labelsAfter(root, { remove_labels: ['unread'] })).toEqual(new Set(['received', 'c']))
  })
})
