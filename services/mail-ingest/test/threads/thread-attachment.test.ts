import { randomUUID } from 'node:crypto'
import { queryRows } from '@restante/testkit'
import { findThreadAttachment } from '../../src/mailbox-api/thread-attachment.ts'
import { countingRows } from '../examined/counting-rows.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { receiveMail } from '../mailbox-fixture.ts'

const MESSAGES = 2_000

/** Copies the only message of an inbox, within its thread, a minute older each, with one file each. */
const COPY = `
insert into messages
select copy.* from messages, generate_series(1, ${MESSAGES}) as number,
       jsonb_populate_record(messages, jsonb_build_object('id', md5(number || messages.id::text)::uuid, 'message_id', '<' || number || '@x>',
         'header_id', '<' || number || '@x>', 'digest', number, 'blob', number,
         'timestamp', messages."timestamp" - number * interval '1 minute',
         'attachments', jsonb_build_array(jsonb_build_object('attachment_id', md5(number::text)::uuid, 'start', 0, 'end', 1,
           'encoding', '7bit', 'size', 1, 'content_type', 'a/b', 'filename', number || '.txt')))) as copy
 where messages.inbox_uid = $1`

let fixture: Fixture
let inbox: TestInbox
let thread: string

beforeAll(async () => {
  fixture = await openFixture()
  inbox = await fixture.inbox()
  await receiveMail(fixture, inbox)
  await queryRows(fixture.db, COPY, inbox.inbox_uid)
  const [row] = await queryRows<{ thread_id: string }>(
    fixture.db,
    'select thread_id from messages where inbox_uid = $1 limit 1',
    inbox.inbox_uid,
  )
  thread = row?.thread_id ?? ''
})
afterAll(() => fixture.stop())

describe('an attachment of a long thread', () => {
  it('is found in one of its oldest messages', async () => {
    const [oldest] = await queryRows<{ id: string; attachment: { attachment_id: string; filename: string } }>(
      fixture.db,
      'select id, attachments->0 as attachment from messages where thread_id = $1 order by "timestamp" limit 1',
      thread,
    )
    const { db, examined } = countingRows(fixture.db, 'messages')
    const found = await findThreadAttachment(db, inbox.caller, thread, oldest?.attachment.attachment_id ?? '')
    expect(found).toMatchObject({ messageUid: oldest?.id, attachment: oldest?.attachment })
    expect(examined()).toBe(1)
  })

  it('is said not to exist without a look at its messages', async () => {
    const { db, examined } = countingRows(fixture.db, 'messages')
    await expect(findThreadAttachment(db, inbox.caller, thread, randomUUID())).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(examined()).toBe(0)
  })
})
