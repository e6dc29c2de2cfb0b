import type { Database, InternalHandlers } from '@restante/service'
import { buryInbox, findDeleted } from './store.ts'

/** What the gateway asks about deleted inboxes. `notify` is rung when one is to be purged. */
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
        await buryInbox(tx, body)
        tx.afterCommit(notify)
      })
      return { purged: false }
    },
  }
}
