import { randomUUID } from 'node:crypto'
import { waitFor } from '@restante/testkit'
import { type Fixture, openFixture } from '../fixture.ts'
import { pathOf, receiveMail } from '../mailbox-fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

const find = async (inbox_uid: string, ...message_ids: string[]) =>
  (await fixture.dispatcherPeer('mail-ingest.findMessages', { inbox_uid, message_ids })).message_ids

describe('mail-ingest.findMessages', () => {
  it('names the messages of an inbox that exist, until they are deleted', async () => {
    const [inbox, other] = [await fixture.inbox(), await fixture.inbox()]
    const [kept, deleted] = [await receiveMail(fixture, inbox), await receiveMail(fixture, inbox)]
    expect((await find(inbox.inbox_uid, deleted, kept, '<unknown@x>')).toSorted()).toEqual([kept, deleted].toSorted())
    await fixture.call(inbox.caller, 'messages.delete', 'DELETE', pathOf(deleted))
    expect(await find(inbox.inbox_uid, deleted, kept)).toEqual([kept])
    expect(await find(other.inbox_uid, kept)).toEqual([])
    expect(await find(randomUUID(), kept)).toEqual([])
  })

  it('names none of an inbox that is deleted', async () => {
    const inbox = await fixture.inbox()
    const id = await receiveMail(fixture, inbox)
    await fixture.deleteInbox(inbox)
    await waitFor(async () => (await find(inbox.inbox_uid, id)).length === 0, { what: 'the deletion to be known' })
  })
})
