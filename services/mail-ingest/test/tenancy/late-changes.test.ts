import { sql } from '@restante/service/database'
import { countRows, waitFor } from '@restante/testkit'
import { orderLabelRemoval } from '../../src/tenancy/label-removal.ts'
import { type Fixture, openFixture } from '../fixture.ts'
import { holding, whenWaiting } from '../locks.ts'
import { pathOf, receiveMail, sentCopy } from '../mailbox-fixture.ts'
import { confirmTakeOver, type TakenOverInbox, takenOverInbox, whenLabelsAreRemoved } from './taken-over.ts'

let fixture: Fixture
let inbox: TakenOverInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await takenOverInbox(fixture)
})

/** Mail that is sent by the earlier holder, or with its successor's number by that one. */
const sent = (take_overs = inbox.takeOvers - 1) => sentCopy(fixture, inbox, { labels: ['mine'], take_overs })
type Copy = Awaited<ReturnType<typeof sent>>
const place = (copy: Copy) => fixture.peer('mail-ingest.placeSent', copy)
const read = async (id: string) => (await fixture.call(inbox.successor, 'messages.get', 'GET', pathOf(id))).body
const threadOf = async (id: string) =>
  (await fixture.call(inbox.successor, 'threads.get', 'GET', `/threads/${(await read(id)).thread_id}`)).body

async function expectLabels({ message_id }: Copy, ...labels: string[]): Promise<void> {
  expect((await read(message_id)).labels).toEqual(labels)
  expect((await threadOf(message_id)).labels).toEqual(labels)
}

describe('the labels of mail that an earlier holder sent', () => {
  it('go when its copy is placed after the take-over and before the confirmation is heard of', async () => {
    const takenOver = new Date()
    await waitFor(() => Date.now() > takenOver.getTime() + 1, { what: 'the clock to move on' })
    const [theirs, own] = [await sent(), await sent(inbox.takeOvers)]
    await place(theirs)
    await place(own)
    await confirmTakeOver(fixture, inbox, { at: takenOver })
    await whenLabelsAreRemoved(fixture, inbox)
    await expectLabels(theirs, 'sent')
    await expectLabels(own, 'sent', 'mine')
  })

  it('are not stored with a copy that is placed after they were removed', async () => {
    await confirmTakeOver(fixture, inbox)
    await whenLabelsAreRemoved(fixture, inbox)
    const [theirs, own] = [await sent(), await sent(inbox.takeOvers)]
    await place(theirs)
    await place(own)
    await expectLabels(theirs, 'sent')
    await expectLabels(own, 'sent', 'mine')
    const logged = "label_log where message_id = $1 and label = 'mine'"
    expect(await countRows(fixture.db, logged, theirs.message_id)).toBe(0)
  })

  it('are not stored with a copy that is placed while the confirmation is being recorded', async () => {
    const copy = await sent()
    const { placed } = await holding(fixture.db, async (tx) => {
      const { organization_id, takeOvers: take_overs } = inbox
      await orderLabelRemoval(tx, { organization_id, take_overs, at: new Date().toISOString() })
      const placed = place(copy)
      await whenWaiting(fixture.db, tx, { what: 'the copy to wait' })
      return { placed }
    })
    await placed
    await whenLabelsAreRemoved(fixture, inbox)
    await expectLabels(copy, 'sent')
  })

  it('go when the confirmation arrives while their copy is being placed', async () => {
    const copy = await sent()
    const { done } = await holding(fixture.db, async (tx) => {
      await tx.query(sql('lock table message_bodies in exclusive mode'))
      const placed = place(copy)
      await whenWaiting(fixture.db, tx, { what: 'the copy to wait' })
      const confirmed = confirmTakeOver(fixture, inbox)
      await whenWaiting(fixture.db, tx, { count: 2, what: 'the confirmation to wait' })
      return { done: [placed, confirmed] }
    })
    await Promise.all(done)
    await whenLabelsAreRemoved(fixture, inbox)
    await expectLabels(copy, 'sent')
  })

  it('stay when the age of the message is not known, as of mail that an earlier release sent', async () => {
    await confirmTakeOver(fixture, inbox)
    await whenLabelsAreRemoved(fixture, inbox)
    const { take_overs: _, ...copy } = await sent()
    await place(copy)
    await expectLabels(copy, 'sent', 'mine')
  })
})

describe('a label that an earlier key asked for before the take-over', () => {
  const label = (id: string) =>
    fixture.call(inbox.earlier, 'messages.update', 'PATCH', pathOf(id), { add_labels: ['mine'] })

  it('goes when it is added afterwards', async () => {
    const id = await receiveMail(fixture, inbox)
    const takenOver = new Date()
    await waitFor(() => Date.now() > takenOver.getTime() + 1, { what: 'the clock to move on' })
    expect((await label(id)).body.labels).toContain('mine')
    await confirmTakeOver(fixture, inbox, { at: takenOver })
    await whenLabelsAreRemoved(fixture, inbox)
    expect((await read(id)).labels).toEqual(['received', 'unread'])
  })

  it('is refused once the take-over is confirmed, on messages and on threads', async () => {
    const id = await receiveMail(fixture, inbox)
    const { thread_id } = await read(id)
    await confirmTakeOver(fixture, inbox)
    const added = { add_labels: ['mine'] }
    const several = { message_ids: [id], ...added }
    const answers = [
      await label(id),
      await fixture.call(inbox.earlier, 'messages.batchUpdate', 'POST', '/messages/batch-update', several),
      await fixture.call(inbox.earlier, 'threads.update', 'PATCH', `/threads/${thread_id}`, added),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
    expect((await read(id)).labels).toEqual(['received', 'unread'])
  })
})

describe('a deletion that an earlier key asked for before the take-over', () => {
  it('is refused once the take-over is confirmed, of messages and of threads', async () => {
    const id = await receiveMail(fixture, inbox)
    const { thread_id } = await read(id)
    await confirmTakeOver(fixture, inbox)
    const answers = [
      await fixture.call(inbox.earlier, 'messages.delete', 'DELETE', pathOf(id)),
      await fixture.call(inbox.earlier, 'threads.delete', 'DELETE', `/threads/${thread_id}`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401])
    expect((await threadOf(id)).message_count).toBe(1)
  })
})
