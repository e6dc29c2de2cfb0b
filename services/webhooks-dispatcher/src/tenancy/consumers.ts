import { type Topic, topics } from '@restante/contracts'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Db, Orm, Tx } from '../database.ts'
import { disableWebhook, dropDeliveries } from '../delivery/store.ts'
import {
  deleteWebhook,
  lockScopeOf,
  lockWebhooksOf,
  rememberGone,
  removeFromFilters,
  type ScopeFilter,
} from '../webhooks/store.ts'

interface Deps {
  readonly kafka: Kafka
  readonly db: Db
}

/**
 * What a deleted inbox, pod or organization takes with it: webhooks that belong to it, and its id in the filters of
 * others. A webhook that loses its last id is disabled instead of widening to everything (events 5).
 */
export function tenancyConsumer({ kafka, db }: Deps): Consumer<Topic<'tenancy'>, Orm> {
  return new Consumer({
    kafka,
    db,
    service: 'webhooks-dispatcher',
    topic: topics.tenancy,
    handlers: {
      'inbox.deleted': {
        effect: (tx, { payload }) =>
          forget(tx, payload.inbox_uid, {
            organizationId: payload.organization_id,
            podId: undefined,
            inboxUid: payload.inbox_uid,
          }),
      },
      'pod.deleted': {
        effect: (tx, { payload }) =>
          forget(tx, payload.pod_id, {
            organizationId: payload.organization_id,
            podId: payload.pod_id,
            inboxUid: undefined,
          }),
      },
      'organization.deleted': {
        effect: (tx, { payload }) =>
          forget(tx, payload.organization_id, {
            organizationId: payload.organization_id,
            podId: undefined,
            inboxUid: undefined,
          }),
      },
    },
  })
}

/** Right in any order and however often: a request that comes later finds the mark, one that was before is undone. */
async function forget(tx: Tx, goneId: string, scope: ScopeFilter): Promise<void> {
  await lockWebhooksOf(tx, scope.organizationId)
  await rememberGone(tx, goneId)
  for (const id of await lockScopeOf(tx, scope)) {
    await dropDeliveries(tx, id)
    await deleteWebhook(tx, id)
  }
  for (const id of await removeFromFilters(tx, scope.organizationId, goneId)) await disableWebhook(tx, id)
}
