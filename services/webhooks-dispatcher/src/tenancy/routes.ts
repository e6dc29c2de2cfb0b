import type { Timers } from '@restante/jobs'
import type { Database, InternalHandlers } from '@restante/service'
import type { TimerKinds } from '../delivery/timers.ts'
import { purgeInbox } from './purge.ts'
import { endEarlierWebhooks } from './take-over.ts'

/**
 * Internal operations of the gateway: status of deleted inboxes, and ending the webhooks of organizations that are
 * taken over.
 */
export function tenancyRoutes(deps: {
  db: Database
  timers: Timers<TimerKinds>
}): InternalHandlers<'webhooks-dispatcher'> {
  return {
    'webhooks-dispatcher.purgeInbox': async ({ body }) => {
      await deps.db.transaction((tx) => purgeInbox(tx, deps.timers, body))
      return { purged: true }
    },

    'webhooks-dispatcher.endWebhooks': async ({ body }) => {
      await deps.db.transaction((tx) => endEarlierWebhooks(tx, deps.timers, body))
      return {}
    },
  }
}
