import type { Caller } from '@restante/contracts'
import { pageSize, type RequestOf, type ResponseOf } from '@restante/contracts'
import type { Database } from '@restante/service'
import { type Cursors, pageOf } from '@restante/service'
import { inboxOf } from './caller.ts'
import { type MessageItemRow, messageItem } from './documents.ts'
import { ListConditions, positionOf } from './list-query.ts'
import { hiddenInList } from './visibility.ts'

const SELECT = `select id, organization_id, pod_id, inbox_uid, inbox_address, thread_id, message_id, labels, "timestamp",
  sender, "to", cc, bcc, subject, preview, in_reply_to, "references", attachments, size, authentication,
  created_at, updated_at
  from messages`

/** Sent and received together, newest first (mail 6.1). */
export async function listMessages(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'messages.list'>['query'],
): Promise<ResponseOf<'messages.list'>> {
  const { page_token, limit, ascending = false, ...filters } = query
  const inbox = inboxOf(caller)
  const context = ['messages.list', inbox.uid, ascending, filters]
  const size = pageSize(limit)
  const rows = await new ListConditions()
    .add((uid) => `inbox_uid = ${uid}`, inbox.uid)
    .hide(hiddenInList(caller, query))
    .filter(query)
    .contains('sender', query.from)
    .contains('recipients', query.to)
    .contains('subject', query.subject)
    .page<MessageItemRow>(deps.db, SELECT, {
      limit: size,
      ascending,
      after: page_token === undefined ? undefined : positionOf(deps.cursors.open(context, page_token)),
    })
  const page = pageOf(
    rows,
    size,
    (position) => deps.cursors.seal(context, position),
    (row) => [row.timestamp.toISOString(), row.id],
  )
  return {
    count: page.items.length,
    ...(limit !== undefined && { limit }),
    ...(page.next_page_token !== undefined && { next_page_token: page.next_page_token }),
    messages: page.items.map(messageItem),
  }
}
