import { type Topic, topics } from '@restante/contracts'
import type { Timers } from '@restante/jobs'
import { Consumer, type Kafka } from '@restante/messaging'
import { type Database, organizationScope } from '@restante/service'
import type { TimerKinds } from '../delivery/timers.ts'
import { purgeInbox, purgeScope } from './purge.ts'
import { endEarlierWebhooks } from './take-over.ts'

interface Deps {
  readonly kafka: Kafka
  readonly db: Database
  readonly timers: Timers<TimerKinds>
}

/**
 * A deletion removes everything kept for an inbox, a pod or an organization; a take-over, what earlier keys created.
 */
export function tenancyConsumer({ kafka, db, timers }: Deps): Consumer<Topic<'tenancy'>> {
  return new Consumer({
    kafka,
    db,
    service: 'webhooks-dispatcher',
    topic: topics.tenancy,
    handlers: {
      'inbox.deleted': { effect: (tx, { payload }) => purgeInbox(tx, timers, payload) },
      'pod.deleted': {
        effect: (tx, { payload: { organization_id: organizationId, pod_id: podId } }) =>
          purgeScope(tx, timers, podId, { ...organizationScope(organizationId), podId }),
      },
      'organization.taken_over': { effect: (tx, { payload }) => endEarlierWebhooks(tx, timers, payload) },
      'organization.deleted': {
        effect: (tx, { payload: { organization_id: organizationId } }) =>
          purgeScope(tx, timers, organizationId, organizationScope(organizationId)),
      },
    },
  })
}
