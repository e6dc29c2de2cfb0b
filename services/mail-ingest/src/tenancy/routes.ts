import type { Database, InternalHandlers } from '@restante/service'
import { deletedInbox, markInboxDeleted } from '../mailbox/lock.ts'

/** Status of deleted inboxes, for the gateway. `notify` is called when one is to be purged. */
export function purgeRoutes(deps: {
  db: Database
  notify: () => void
}): Pick<InternalHandlers<'mail-ingest'>, 'mail-ingest.purgeInbox'> {
  const { db, notify } = deps
  return {
    'mail-ingest.purgeInbox': async ({ body }) => {
      const known = await deletedInbox(db, body.inbox_uid)
      if (known) return { purged: known.purged }
      const { address, deleted_at, ...inbox } = body
      await db.transaction(async (tx) => {
        await markInboxDeleted(tx, { ...inbox, inbox_address: address }, deleted_at)
        tx.afterCommit(notify)
      })
      return { purged: false }
    },
  }
}
