import { randomUUID } from 'node:crypto'
import { deliverTwiceAndSwapped } from '@restante/messaging/testing'
import { sql } from '@restante/service/database'
import { countRows, organizationTakenOverEvent, queryRows, waitFor } from '@restante/testkit'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { pathOf, receiveMail, sentCopy, tenancyOf } from '../mailbox-fixture.ts'

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
let inbox: TestInbox

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())
beforeEach(async () => {
  inbox = await fixture.inbox()
})

const label = (id: string, ...add_labels: string[]) =>
  fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(id), { add_labels })
const read = async (id: string) => (await fixture.call(inbox.caller, 'messages.get', 'GET', pathOf(id))).body
const threadOf = async (id: string) =>
  (await fixture.call(inbox.caller, 'threads.get', 'GET', `/threads/${(await read(id)).thread_id}`)).body

/** The event as Kafka may deliver it at its worst; the service's own part does the work that it orders. */
async function confirmed(organizationId: string, verified: boolean, at: Date): Promise<void> {
  const { consumer } = await tenancyOf(fixture)
  await deliverTwiceAndSwapped(consumer, organizationTakenOverEvent(organizationId, { verified, at }))
}

const done = (organizationId: string) =>
  waitFor(
    async () => (await countRows(fixture.db, 'label_removals where organization_id = $1', organizationId)) === 0,
    {
      what: 'the end of the removal',
    },
  )

it('removes custom labels from before a take-over from messages and threads, and no others', async () => {
  const received = await receiveMail(fixture, inbox)
  const copy = await sentCopy(fixture, inbox, { labels: ['campaign'] })
  await fixture.peer('mail-ingest.placeSent', copy)
  await label(received, 'stranger', 'both', 'trash')
  const takenOver = new Date()
  await waitFor(() => Date.now() > takenOver.getTime() + 1, { what: 'the clock to move on' })
  await label(received, 'own')
  await fixture.call(inbox.caller, 'messages.update', 'PATCH', pathOf(received), { remove_labels: ['both'] })
  await label(received, 'both')
  const before = await countRows(
    fixture.db,
    'label_log where inbox_uid = $1 and type = $2',
    inbox.inbox_uid,
    'label.removed',
  )
  await confirmed(inbox.organization_id, true, takenOver)
  await done(inbox.organization_id)
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
  const other = randomUUID()
  const received = await receiveMail(fixture, inbox)
  await label(received, 'mine')
  await confirmed(inbox.organization_id, false, new Date())
  expect(await countRows(fixture.db, 'label_removals where organization_id = $1', inbox.organization_id)).toBe(0)
  await confirmed(other, true, new Date())
  await done(other)
  expect((await read(received)).labels).toContain('mine')
})

it('continues to the last of many messages', async () => {
  const received = await receiveMail(fixture, inbox)
  await fixture.db.query(MANY, received, 450)
  expect(await fixture.db.query(LABELLED, inbox.inbox_uid)).toEqual([{ count: 450 }])
  await confirmed(inbox.organization_id, true, new Date())
  await done(inbox.organization_id)
  expect(await fixture.db.query(LABELLED, inbox.inbox_uid)).toEqual([{ count: 0 }])
})

it('finds nothing to do in an organization without mail', async () => {
  const organizationId = randomUUID()
  await confirmed(organizationId, true, new Date())
  await done(organizationId)
})
