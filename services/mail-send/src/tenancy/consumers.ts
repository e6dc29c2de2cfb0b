import { topics } from '@restante/contracts'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Db, Orm } from '../database.ts'
import { forgetInbox, forgetOrganization } from './store.ts'

/** What goes when its owner goes. Deletions are final, so their order among other events does not matter. */
export function tenancyConsumer(deps: { kafka: Kafka; db: Db }): Consumer<(typeof topics)['tenancy'], Orm> {
  return new Consumer({
    ...deps,
    service: 'mail-send',
    topic: topics.tenancy,
    handlers: {
      'inbox.deleted': { effect: (tx, { payload }) => forgetInbox(tx, payload.inbox_uid) },
      'organization.deleted': { effect: (tx, { payload }) => forgetOrganization(tx, payload.organization_id) },
    },
  })
}
