import { type Caller, seesLabels } from '@restante/contracts/access'
import type { Queryable } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import { isInScope, requireInbox, scopeFilter } from '@restante/service/identity'
import { findTombstone } from '@restante/tenancy'
import { locationOf, type MessageRow, type ScopeColumns, type ThreadRow } from '../mailbox/rows/rows.ts'
import { store } from '../mailbox/store.ts'

/**
 * The message that a path names. @throws ApiError 404 when it does not exist, or is invisible to this key (mail 4.4).
 */
export async function visibleMessage(db: Queryable, caller: Caller, messageId: string): Promise<MessageRow> {
  const message = await store.message(db, requireInbox(caller).uid, messageId)
  if (!message || !isVisible(caller, message)) throw notFound('Message')
  return message
}

/** The messages that a request names, in its order. Those that do not exist, or are invisible to this key, are left out. */
export async function visibleMessages(
  db: Queryable,
  caller: Caller,
  messageIds: readonly string[],
): Promise<MessageRow[]> {
  const found = await store.messages(db, requireInbox(caller).uid, messageIds)
  const byId = new Map(found.map((message) => [message.message_id, message]))
  return messageIds.flatMap((id) => {
    const message = byId.get(id)
    return message && isVisible(caller, message) ? [message] : []
  })
}

/**
 * The thread that a path names. @throws ApiError 404 when it does not exist, is being purged with its inbox, or is
 * invisible to this key, for which one of its messages suffices (mail 4.4).
 */
export async function visibleThread(db: Queryable, caller: Caller, threadId: string): Promise<ThreadRow> {
  const thread = await store.thread(db, threadId)
  if (!thread || !isVisible(caller, thread) || (await findTombstone(db, thread.inbox_uid))) throw notFound('Thread')
  return thread
}

/** Whether a row is in the scope of this caller, and has no label that its key may not see (mail 4.4). */
export function isVisible(caller: Caller, row: ScopeColumns & { readonly labels: readonly string[] }): boolean {
  return isInScope(scopeFilter(caller), locationOf(row)) && seesLabels(caller.credential, row.labels)
}
