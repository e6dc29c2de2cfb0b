import type { Queryable } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import { copies } from './store.ts'

type CopyOperations = 'mail-send.getSentCopy' | 'mail-send.findRecentSends'

/** Serves copies of sent messages to a mailbox that does not have them yet. */
export function copyRoutes(db: Queryable): Pick<InternalHandlers<'mail-send'>, CopyOperations> {
  return {
    'mail-send.getSentCopy': async ({ body }) => {
      const copy = await copies.first(db, body.inbox_uid, body.message_ids)
      return copy ? { copy } : {}
    },
    'mail-send.findRecentSends': async ({ body }) => {
      const messages = body.messages.length > 0 ? await copies.recent(db, body.messages) : []
      const ofThreads = body.threads.length > 0 ? await copies.recentOfThreads(db, body.threads) : []
      return { sends: [...messages, ...ofThreads] }
    },
  }
}
