import { type Caller, seesLabels } from '@restante/contracts/access'
import type { Queryable } from '@restante/service/database'
import { notFound } from '@restante/service/errors'
import { isInScope, requireInbox, scopeFilter } from '@restante/service/identity'
import { locationOf, type MessageRow } from '../mailbox/rows.ts'
import { store } from '../mailbox/store.ts'

/**
 * The message that a path names. @throws ApiError 404 when it does not exist, or is invisible to this key (mail 4.4).
 */
export async function visibleMessage(db: Queryable, caller: Caller, messageId: string): Promise<MessageRow> {
  const message = await store.message(db, requireInbox(caller).uid, messageId)
  if (!message || !isInScope(scopeFilter(caller), locationOf(message))) throw notFound('Message')
  if (!seesLabels(caller.credential, message.labels)) throw notFound('Message')
  return message
}
