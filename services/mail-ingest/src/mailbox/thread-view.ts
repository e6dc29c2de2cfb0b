import { type Caller, LIMITS, type RequestOf, type Thread } from '@restante/contracts'
import type { Database } from '@restante/service'
import { type Cursors, notFound, sql } from '@restante/service'
import { isInScope } from './caller.ts'
import { type MessageItemRow, messageDocument, threadItem } from './documents.ts'
import { ListConditions, positionOf } from './list-query.ts'
import { deletedInbox } from './lock.ts'
import type { BodyColumns, MessageRow } from './rows.ts'
import { store } from './store.ts'
import { invisibleLabels } from './visibility.ts'

interface Outline {
  readonly id: string
  readonly timestamp: Date
  readonly bytes: number
}

const OUTLINE = `select id, "timestamp", bytes from (
  select messages.id, thread_id, "timestamp",
         coalesce(octet_length(text), 0) + coalesce(octet_length(html), 0) + coalesce(octet_length(extracted_text), 0)
           + coalesce(octet_length(extracted_html), 0) as bytes
    from messages join message_bodies using (id)) as outline`

const FULL = sql<MessageItemRow & Pick<MessageRow, 'reply_to'> & BodyColumns, [ids: readonly string[]]>(`
select messages.id, organization_id, pod_id, inbox_uid, inbox_address, thread_id, message_id, labels, "timestamp", sender,
       "to", cc, bcc, reply_to, subject, preview, in_reply_to, "references", attachments, size, authentication,
       created_at, updated_at, text, html, extracted_text, extracted_html, headers
  from messages join message_bodies using (id)
 where messages.id = any($1::uuid[])
 order by "timestamp", messages.id`)

/** Bodies of one page together; a page that reaches it is short, and the next token goes on (identity 1.4). */
const PAGE_BYTES = 10 * 1024 * 1024

/** A thread with one page of its messages: the first page holds the newest, each page is ascending (mail 10). */
export async function getThread(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  threadId: string,
  { limit, page_token }: RequestOf<'threads.get'>['query'],
): Promise<Thread> {
  const { db, cursors } = deps
  const thread = await store.thread(db, threadId)
  const invisible = invisibleLabels(caller)
  if (!thread || !isInScope(caller, thread) || invisible.some((label) => thread.labels.includes(label))) {
    throw notFound('Thread')
  }
  if (await deletedInbox(db, thread.inbox_uid)) throw notFound('Thread')
  const context = ['threads.get', threadId]
  const size = limit ?? LIMITS.page.threadMessages
  const outlines = await new ListConditions()
    .add((id) => `thread_id = ${id}`, threadId)
    .page<Outline>(db, OUTLINE, {
      limit: size,
      ascending: false,
      after: page_token === undefined ? undefined : positionOf(cursors.open(context, page_token)),
    })
  const shown = withinBytes(outlines.slice(0, size))
  const last = shown.at(-1)
  const messages = await db.query(
    FULL,
    shown.map(({ id }) => id),
  )
  const more = last !== undefined && shown.length < outlines.length
  return {
    ...threadItem(thread),
    count: messages.length,
    ...(limit !== undefined && { limit }),
    ...(more && { next_page_token: cursors.seal(context, [last.timestamp.toISOString(), last.id]) }),
    messages: messages.map(messageDocument),
  }
}

function withinBytes(outlines: readonly Outline[]): Outline[] {
  let bytes = 0
  return outlines.filter((outline, index) => {
    bytes += outline.bytes
    return index === 0 || bytes <= PAGE_BYTES
  })
}
