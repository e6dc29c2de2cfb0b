import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Database } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { requireInbox } from '@restante/service/identity'
import { messageItem } from '../mailbox/rows/documents.ts'
import { MESSAGE_ITEMS } from './pages/items.ts'
import { byTimestamp, ListConditions } from './pages/list-query.ts'
import { hiddenInList } from './visibility.ts'

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
    .page(deps.db, MESSAGE_ITEMS, page)
  const { items, members } = page.answer(rows, byTimestamp, messageItem, rows[0]?.found)
  return { ...members, messages: items }
}
