import { type Caller, pageSize, type RequestOf, type ResponseOf } from '@restante/contracts'
import type { Database } from '@restante/service'
import { type Cursors, pageOf } from '@restante/service'
import { threadItem } from './documents.ts'
import { ListConditions, positionOf } from './list-query.ts'
import type { ThreadRow } from './rows.ts'
import { THREAD_COLUMNS } from './store.ts'
import { hiddenInList } from './visibility.ts'

/** All threads of the scope by newest activity (mail 10). */
export async function listThreads(
  deps: { db: Database; cursors: Cursors },
  caller: Caller,
  query: RequestOf<'threads.list'>['query'],
): Promise<ResponseOf<'threads.list'>> {
  const { page_token, limit, ascending = false, ...filters } = query
  const context = ['threads.list', caller.organization_id, caller.pod_id, caller.inbox?.uid, ascending, filters]
  const size = pageSize(limit)
  const rows = await inScope(caller)
    .hide(hiddenInList(caller, query))
    .filter(query)
    .contains('sender_lines', query.senders)
    .contains('recipient_lines', query.recipients)
    .contains('subject', query.subject)
    .page<ThreadRow>(deps.db, `select ${THREAD_COLUMNS} from threads`, {
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
    threads: page.items.map(threadItem),
  }
}

function inScope(caller: Caller): ListConditions {
  const conditions = new ListConditions().add((id) => `organization_id = ${id}`, caller.organization_id)
  // The gateway lets nobody onto the path of a deleted inbox.
  if (caller.inbox) return conditions.add((uid) => `inbox_uid = ${uid}`, caller.inbox.uid)
  conditions.alive()
  return caller.pod_id === undefined ? conditions : conditions.add((id) => `pod_id = ${id}`, caller.pod_id)
}
