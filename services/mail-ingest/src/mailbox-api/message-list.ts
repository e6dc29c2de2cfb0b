import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Database } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { type MessageItemRow, messageItem } from '../mailbox/rows/documents.ts'
import { byTimestamp, ListConditions, listed, unpackedBytes } from './list-query.ts'
import { hiddenInList } from './visibility.ts'

/** The columns of `MessageItemRow`. */
export const MESSAGE_ITEM_COLUMNS = `id, organization_id, pod_id, inbox_uid, inbox_address, thread_id, message_id, labels, "timestamp",
  sender, "to", cc, bcc, subject, preview, in_reply_to, "references", attachments, size, authentication,
  calendar_event_id, created_at, updated_at`

const ITEMS = listed<MessageItemRow>(
  'messages',
  MESSAGE_ITEM_COLUMNS,
  unpackedBytes('recipients', 'attachments', '"references"', 'labels'),
)

/** Lists sent and received messages together, newest first (mail 6.1). */
export async function listMessages(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'messages.list'>['query'],
): Promise<ResponseOf<'messages.list'>> {
  const inbox = requireInbox(caller)
  const page = new KeysetPage(deps.cursors, { operation: 'messages.list', within: inbox.uid, query })
  const rows = await new ListConditions()
    .add((uid) => `inbox_uid = ${uid}`, inbox.uid)
    .hide(hiddenInList(caller, query))
    .filter(query)
    .contains('sender', query.from)
    .contains('recipients', query.to)
    .contains('subject', query.subject)
    .page(deps.db, ITEMS, page)
  const { items, members } = page.answer(rows, byTimestamp, messageItem, rows[0]?.found)
  return { ...members, messages: items }
}
