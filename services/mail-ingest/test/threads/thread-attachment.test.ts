import { randomUUID } from 'node:crypto'
import type { Database } from '@restante/service/database'
import { queryRows } from '@restante/testkit'
import { findThreadAttachment } from '../../src/mailbox-api/thread-attachment.ts'
import { type Fixture, openFixture, type TestInbox } from '../fixture.ts'
import { receiveMail } from '../mailbox-fixture.ts'

const MESSAGES = 2_000

/** A step of a plan, after it was executed. */
interface Step {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly Step[]
}

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

/** The database, which also counts the rows of `messages` that each statement looks at. */
function counting(): { readonly db: Database; readonly examined: () => number } {
  let rows = 0
  const db = new Proxy(fixture.db, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name, target)
      return async (statement: { text: string }, ...values: unknown[]) => {
        const explain = `explain (analyze, format json) ${statement.text}`
        const [plan] = await queryRows<{ 'QUERY PLAN': [{ Plan: Step }] }>(target, explain, ...values)
        rows += examinedBy(plan?.['QUERY PLAN'][0].Plan)
        return queryRows(target, statement.text, ...values)
      }
    },
  })
  return { db, examined: () => rows }
}

function examinedBy(step: Step | undefined): number {
  if (step === undefined) return 0
  const { 'Rows Removed by Filter': removed = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = step
  const own =
    step['Relation Name'] === 'messages' ? (step['Actual Rows'] + removed + rechecked) * step['Actual Loops'] : 0
  return own + (step.Plans ?? []).reduce((sum, inside) => sum + examinedBy(inside), 0)
}

describe('an attachment of a long thread', () => {
  it('is found in one of its oldest messages', async () => {
    const [oldest] = await queryRows<{ id: string; attachment: { attachment_id: string; filename: string } }>(
      fixture.db,
      'select id, attachments->0 as attachment from messages where thread_id = $1 order by "timestamp" limit 1',
      thread,
    )
    const { db, examined } = counting()
    const found = await findThreadAttachment(db, inbox.caller, thread, oldest?.attachment.attachment_id ?? '')
    expect(found).toMatchObject({ messageUid: oldest?.id, attachment: oldest?.attachment })
    expect(examined()).toBe(1)
  })

  it('is said not to exist without a look at its messages', async () => {
    const { db, examined } = counting()
    await expect(findThreadAttachment(db, inbox.caller, thread, randomUUID())).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(examined()).toBe(0)
  })
})
