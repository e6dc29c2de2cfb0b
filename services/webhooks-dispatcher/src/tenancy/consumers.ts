import { type Topic, topics } from '@restante/contracts'
import type { Timers } from '@restante/jobs'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Db, Orm, Tx } from '../database.ts'
import { disableWebhook, dropDeliveries } from '../delivery/store.ts'
import type { TimerKinds } from '../delivery/timers.ts'
import {
  deleteWebhook,
  idsInScope,
  lockWebhooksOf,
  rememberGone,
  removeFromFilters,
  type ScopeFilter,
} from '../webhooks/store.ts'

interface Deps {
  readonly kafka: Kafka
  readonly db: Db
  readonly timers: Timers<TimerKinds, Orm>
}

/**
 * What a deleted inbox, pod or organization takes with it: webhooks that belong to it, and its id in the filters of
 * others. A webhook that loses its last id is disabled instead of widening to everything (events 5).
 */
export function tenancyConsumer({ kafka, db, timers }: Deps): Consumer<Topic<'tenancy'>, Orm> {
  async function drop(tx: Tx, scope: ScopeFilter): Promise<void> {
    for (const id of await idsInScope(tx, scope)) {
      await timers.cancel(tx, 'webhook-delivery', ...(await dropDeliveries(tx, id)))
      await deleteWebhook(tx, id)
    }
  }

  async function forget(tx: Tx, organizationId: string, goneId: string, scope: ScopeFilter): Promise<void> {
    await lockWebhooksOf(tx, organizationId)
    await rememberGone(tx, goneId)
    await drop(tx, scope)
    for (const id of await removeFromFilters(tx, organizationId, goneId)) {
      await timers.cancel(tx, 'webhook-delivery', ...(await disableWebhook(tx, id)))
    }
  }

  return new Consumer({
    kafka,
    db,
    service: 'webhooks-dispatcher',
    topic: topics.tenancy,
    handlers: {
      'inbox.deleted': {
        effect: (tx, { payload }) =>
          forget(tx, payload.organization_id, payload.inbox_uid, {
            organizationId: payload.organization_id,
            podId: undefined,
            inboxUid: payload.inbox_uid,
          }),
      },
      'pod.deleted': {
        effect: (tx, { payload }) =>
          forget(tx, payload.organization_id, payload.pod_id, {
            organizationId: payload.organization_id,
            podId: payload.pod_id,
            inboxUid: undefined,
          }),
      },
      'organization.deleted': {
        effect: async (tx, { payload }) => {
          await lockWebhooksOf(tx, payload.organization_id)
          await drop(tx, { organizationId: payload.organization_id, podId: undefined, inboxUid: undefined })
        },
      },
    },
  })
}
