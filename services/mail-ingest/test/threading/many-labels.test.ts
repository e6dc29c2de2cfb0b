import { LIMITS } from '@restante/contracts/vocabulary'
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

  it('follows every change of its messages', async () => {
    const root = await receiveMail(fixture, inbox, { subject: 'another' })
    const second = await receiveMail(fixture, inbox, { inReplyTo: root })
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
