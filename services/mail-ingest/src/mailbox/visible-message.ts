import type { Caller } from '@restante/contracts'
import { notFound, type Queryable } from '@restante/service'
import { inboxOf } from './caller.ts'
import type { MessageRow } from './rows.ts'
import { store } from './store.ts'
import { invisibleLabels } from './visibility.ts'

/** The message that a path names. @throws ApiError 404 when there is none, or none for this key (mail 4.4). */
export async function visibleMessage(db: Queryable, caller: Caller, messageId: string): Promise<MessageRow> {
  const message = await store.message(db, inboxOf(caller).uid, messageId)
  if (!message || message.organization_id !== caller.organization_id) throw notFound('Message')
  if (invisibleLabels(caller).some((label) => message.labels.includes(label))) throw notFound('Message')
  return message
}
