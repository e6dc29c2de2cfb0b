import type { Timers } from '@restante/jobs'
import type { Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { InternalHandlers } from '@restante/service/http'
import type { Logger } from '@restante/service/telemetry'
import { Tenancy } from '@restante/tenancy'
import type { TimerKinds } from '../delivery/timers.ts'
import { tombstones, WebhookPurge } from './purge.ts'
import { endEarlierWebhooks } from './take-over.ts'

export interface OpenTenancyOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
  readonly timers: Timers<TimerKinds>
}

/**
 * A deletion removes everything kept for an inbox, a pod or an organization; a take-over, what earlier keys created.
 */
export function openTenancy({ kafka, db, log, timers }: OpenTenancyOptions): Tenancy {
  return new Tenancy({
    service: 'webhooks-dispatcher',
    kafka,
    db,
    log,
    tombstones,
    purge: new WebhookPurge(timers),
    handlers: {
      'organization.taken_over': { effect: (tx, { payload }) => endEarlierWebhooks(tx, timers, payload) },
    },
  })
}

type TenancyOperation = 'webhooks-dispatcher.purgeInbox' | 'webhooks-dispatcher.endWebhooks'

/**
 * Internal operations of the gateway: status of deleted inboxes, and ending the webhooks of organizations that are
 * taken over.
 */
export function tenancyRoutes(
  tenancy: Tenancy,
  { db, timers }: Pick<OpenTenancyOptions, 'db' | 'timers'>,
): Pick<InternalHandlers<'webhooks-dispatcher'>, TenancyOperation> {
  return {
    'webhooks-dispatcher.purgeInbox': tenancy.purgeInbox,

    'webhooks-dispatcher.endWebhooks': async ({ body }) => {
      await db.transaction((tx) => endEarlierWebhooks(tx, timers, body))
      return {}
    },
  }
}
