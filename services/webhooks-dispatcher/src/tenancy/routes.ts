import type { Timers } from '@restante/jobs'
import type { InternalHandlers } from '@restante/service'
import type { Db, Orm } from '../database.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import { purgeInbox } from './purge.ts'

/** What the gateway asks about deleted inboxes. */
export function purgeRoutes(deps: {
  db: Db
  timers: Timers<TimerKinds, Orm>
}): InternalHandlers<'webhooks-dispatcher'> {
  return {
    'webhooks-dispatcher.purgeInbox': async ({ body }) => {
      await deps.db.transaction((tx) => purgeInbox(tx, deps.timers, body))
      return { purged: true }
    },
  }
}
