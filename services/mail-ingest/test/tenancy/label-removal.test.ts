import { randomUUID } from 'node:crypto'
import type { Caller } from '@restante/contracts/access'
import { sql } from '@restante/service/database'
import { countRows, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { pathOf, receiveMail, sentCopy } from '../mailbox-fixture.ts'
import { confirmTakeOver, type TakenOverInbox, takenOverInbox, whenLabelsAreRemoved } from './taken-over.ts'

/** Copies of a message, in its thread, each with a label that has no entry in the audit log. */
const MANY = sql<never, [messageId: string, count: number]>(`
insert into messages
select (json_populate_record(m, json_build_object(
          'id', gen_random_uuid(), 'message_id', '<' || gen_random_uuid() || '@many.test>',
          'labels', array['received', 'mine']))).*
  from messages m, generate_series(1, $2::int) where m.message_id = $1`)
const LABELLED = sql<{ count: number }, [inboxUid: string]>(
  "select count(*)::int as count from messages where inbox_uid = $1 and 'mine' = any(labels)",
)

let fixture: Fixture
let inbox: TakenOverInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await takenOverInbox(fixture)
})

const label = (caller: Caller, id: string, ...add_labels: string[]) =>
  fixture.call(caller, 'messages.update', 'PATCH', pathOf(id), { add_labels })
const read = async (id: string) => (await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))).body
const threadOf = async (id: string) =>
  (await fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${(await read(id)).thread_id}`)).body

it('removes custom labels from before a take-over from messages and threads, and no others', async () => {
  const received = await receiveMail(fixture, inbox)
  const copy = await sentCopy(fixture, inbox, { labels: ['campaign'] })
  await fixture.peer('mail-ingest.placeSent', copy)
  await label(inbox.earlier, received, 'stranger', 'both', 'trash')
  const takenOver = new Date()
  await label(inbox.successor, received, 'own')
  await fixture.call(inbox.successor, 'messages.update', 'PATCH', pathOf(received), { remove_labels: ['both'] })
  await label(inbox.successor, received, 'both')
  const before = await countRows(
    fixture.db,
    'label_log where inbox_uid = $1 and type = $2',
    inbox.inbox_uid,
    'label.removed',
  )
  await confirmTakeOver(fixture, inbox, { at: takenOver })
  await whenLabelsAreRemoved(fixture, inbox)
  expect((await read(received)).labels).toEqual(['received', 'unread', 'trash', 'own', 'both'])
  expect((await threadOf(received)).labels).toEqual(['received', 'unread', 'trash', 'own', 'both'])
  expect((await read(copy.message_id)).labels).toEqual(['sent'])
  const logged = await queryRows<{ label: string }>(
    fixture.db,
    `select label from label_log where inbox_uid = $1 and type = 'label.removed' order by id offset $2`,
    inbox.inbox_uid,
    before,
  )
  expect(logged.map((entry) => entry.label).sort()).toEqual(['campaign', 'stranger'])
})

it('removes none before the human has confirmed, nor in another organization', async () => {
  const other = { ...inbox, organization_id: randomUUID() }
  const received = await receiveMail(fixture, inbox)
  await label(inbox.earlier, received, 'mine')
  await confirmTakeOver(fixture, inbox, { verified: false })
  expect(await countRows(fixture.db, 'label_removals where organization_id = $1', inbox.organization_id)).toBe(0)
  await confirmTakeOver(fixture, other)
  await whenLabelsAreRemoved(fixture, other)
  expect((await read(received)).labels).toContain('mine')
})

it('tells labels of an earlier release apart by their times', async () => {
  const received = await receiveMail(fixture, inbox)
  await label(inbox.earlier, received, 'stranger')
  const takenOver = new Date()
  await waitFor(() => Date.now() > takenOver.getTime() + 1, { what: 'the clock to move on' })
  await label(inbox.successor, received, 'own')
  await queryRows(fixture.db, 'update label_log set take_overs = null where inbox_uid = $1', inbox.inbox_uid)
  await confirmTakeOver(fixture, inbox, { at: takenOver })
  await whenLabelsAreRemoved(fixture, inbox)
  expect((await read(received)).labels).toEqual(['received', 'unread', 'own'])
})

it('continues to the last of many messages', async () => {
  const received = await receiveMail(fixture, inbox)
  await fixture.db.query(MANY, received, 450)
  expect(await fixture.db.query(LABELLED, inbox.inbox_uid)).toEqual([{ count: 450 }])
  await confirmTakeOver(fixture, inbox)
  await whenLabelsAreRemoved(fixture, inbox)
  expect(await fixture.db.query(LABELLED, inbox.inbox_uid)).toEqual([{ count: 0 }])
})

it('finds nothing to do in an organization without mail', async () => {
  const empty = { ...inbox, organization_id: randomUUID() }
  await confirmTakeOver(fixture, empty)
  await whenLabelsAreRemoved(fixture, empty)
})
