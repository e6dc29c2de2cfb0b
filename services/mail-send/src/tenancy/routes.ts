import type { Database, InternalHandlers } from '@restante/service'
import { findDeleted, markInboxDeleted } from './store.ts'

/** Status of deleted inboxes, for the gateway. `notify` is called when one is to be purged. */
export function purgeRoutes(deps: {
  db: Database
  notify: () => void
}): Pick<InternalHandlers<'mail-send'>, 'mail-send.purgeInbox'> {
  const { db, notify } = deps
  return {
    'mail-send.purgeInbox': async ({ body }) => {
      const known = await findDeleted(db, body.inbox_uid)
      if (known) return known
      await db.transaction(async (tx) => {
        await markInboxDeleted(tx, body)
        tx.afterCommit(notify)
      })
      return { purged: false }
    },
  }
}
