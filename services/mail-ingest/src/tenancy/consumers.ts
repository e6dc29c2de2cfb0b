import { topics } from '@restante/contracts'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service'
import { markInboxDeleted } from '../mailbox/lock.ts'
import { orderLabelRemoval } from './label-removal.ts'
import { markOrganizationDeleted } from './organizations.ts'

export interface TenancyConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  /** Called when an inbox or organization is to be purged. */
  readonly notify: () => void
  /** Called when labels are to be removed. */
  readonly notifyLabels: () => void
}

/** From this commit on a deleted inbox accepts nothing; its content is purged afterwards. */
export function tenancyConsumer({ kafka, db, notify, notifyLabels }: TenancyConsumerOptions) {
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics.tenancy,
    handlers: {
      'inbox.deleted': {
        async effect(tx, { payload }) {
          const { address, deleted_at, ...inbox } = payload
          await markInboxDeleted(tx, { ...inbox, inbox_address: address }, deleted_at)
          tx.afterCommit(notify)
        },
      },
      'organization.taken_over': {
        async effect(tx, { payload }) {
          if (!payload.verified) return
          await orderLabelRemoval(tx, payload.organization_id, payload.at)
          tx.afterCommit(notifyLabels)
        },
      },
      'organization.deleted': {
        async effect(tx, { payload }) {
          await markOrganizationDeleted(tx, payload.organization_id, payload.deleted_at)
          tx.afterCommit(notify)
        },
      },
    },
  })
}
