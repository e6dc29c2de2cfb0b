import type { Caller } from '@restante/contracts/access'
import type { RequestOf } from '@restante/contracts/operations'
import type { Thread } from '@restante/contracts/resources'
import { LIMITS } from '@restante/contracts/vocabulary'
import { type Database, sql } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { type FullMessageRow, messageDocument, threadItem } from '../mailbox/rows/documents.ts'
import { unpackedBytes } from '../mailbox/rows/unpacked-bytes.ts'
import { byTimestamp, ListConditions, listed } from './pages/list-query.ts'
import { visibleThread } from './visible.ts'

interface Outline {
  readonly id: string
  readonly timestamp: Date
}

const OUTLINES = listed<Outline>(
  `(
  select messages.id, thread_id, "timestamp",
         coalesce(octet_length(text), 0) + coalesce(octet_length(html), 0) + coalesce(octet_length(extracted_text), 0)
           + coalesce(octet_length(extracted_html), 0)
           + ${unpackedBytes('recipients', 'attachments', '"references"', 'labels', 'headers')} as shown
    from messages join message_bodies using (id)) as outline`,
  'id, "timestamp"',
  'shown',
)

const FULL = sql<FullMessageRow, [ids: readonly string[]]>(`
select messages.id, organization_id, pod_id, inbox_uid, inbox_address, thread_id, message_id, labels, "timestamp", sender,
       "to", cc, bcc, reply_to, subject, preview, in_reply_to, "references", attachments, size, authentication,
       calendar_event_id, opened_at, created_at, updated_at, text, html, extracted_text, extracted_html, headers
  from messages join message_bodies using (id)
 where messages.id = any($1::uuid[])
 order by "timestamp", messages.id`)

/** A thread with one page of its messages. The first page has the newest; each page is in ascending order (mail 10). */
export async function getThread(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  threadId: string,
  query: RequestOf<'threads.get'>['query'],
): Promise<Thread> {
  const { db, cursors } = deps
  const thread = await visibleThread(db, caller, threadId)
  const page = new KeysetPage(cursors, {
    operation: 'threads.get',
    within: threadId,
    query,
    defaultSize: LIMITS.page.threadMessages,
  })
  const outlines = await new ListConditions().add((id) => `thread_id = ${id}`, threadId).page(db, OUTLINES, page)
  const { items: ids, members } = page.answer(outlines, byTimestamp, ({ id }) => id, outlines[0]?.found)
  const messages = await db.query(FULL, ids)
  return { ...threadItem(thread), ...members, count: messages.length, messages: messages.map(messageDocument) }
}
