import type { Caller } from '@restante/contracts/access'
import type { RequestOf, ResponseOf } from '@restante/contracts/operations'
import type { Database } from '@restante/service/database'
import { type Cursors, KeysetPage } from '@restante/service/http'
import { type ScopeFilter, scopeFilter } from '@restante/service/identity'
import { threadItem } from '../mailbox/rows/documents.ts'
import { THREAD_ITEMS } from './pages/items.ts'
import { byTimestamp, ListConditions } from './pages/list-query.ts'
import { hiddenInList } from './visibility.ts'

/** Lists the threads of the scope by newest activity (mail 10). */
export async function listThreads(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'threads.list'>['query'],
): Promise<ResponseOf<'threads.list'>> {
  const scope = scopeFilter(caller)
  const page = new KeysetPage(deps.cursors, { operation: 'threads.list', within: scope, query })
  const rows = await inScope(scope)
    .hide(hiddenInList(caller, query))
    .filter(query)
    .contains('sender_lines', query.senders)
    .contains('recipient_lines', query.recipients)
    .contains('subject', query.subject)
    .page(deps.db, THREAD_ITEMS, page)
  const { items, members } = page.answer(rows, byTimestamp, threadItem, rows[0]?.found)
  return { ...members, threads: items }
}

function inScope({ organizationId, podId, inboxUid }: ScopeFilter): ListConditions {
  const conditions = new ListConditions()
  if (inboxUid === undefined && podId === undefined) {
    return conditions.add((id) => `organization_id = ${id}`, organizationId).alive()
  }
  // Not with `=`: an index could then find the rows of the organization, which has more than the inbox or pod.
  conditions.add((id) => `organization_id is not distinct from ${id}`, organizationId)
  // No check for deletion: the gateway admits no request to the path of a deleted inbox.
  if (inboxUid !== undefined) return conditions.add((uid) => `inbox_uid = ${uid}`, inboxUid)
  return conditions.add((id) => `pod_id = ${id}`, podId).alive()
}
