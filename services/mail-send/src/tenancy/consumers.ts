import { topics } from '@restante/contracts'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service'
import { markInboxDeleted, markOrganizationDeleted } from './store.ts'

export interface TenancyConsumerOptions {
  readonly kafka: Kafka
  readonly db: Database
  /** Called when something is to be purged. */
  readonly notify: () => void
}

/** Deletes what belongs to a deleted owner. Deletions are final, so their order among other events does not matter. */
export function tenancyConsumer(options: TenancyConsumerOptions): Consumer<(typeof topics)['tenancy']> {
  const { kafka, db, notify } = options
  return new Consumer({
    kafka,
    db,
    service: 'mail-send',
    topic: topics.tenancy,
    handlers: {
      'inbox.deleted': {
        async effect(tx, { payload }) {
          await markInboxDeleted(tx, payload)
          tx.afterCommit(notify)
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
