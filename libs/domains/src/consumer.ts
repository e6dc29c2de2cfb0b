import { type Topic, topics } from '@restante/contracts/events'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import { registrations } from './registrations.ts'

type DomainsTopic = Topic<'domains.state'>

/** What is left of a registration. */
const NOTHING = {
  inbound_enabled: false,
  subdomains_enabled: false,
  feedback_enabled: false,
  sending_ready: false,
  return_path: null,
  tracking_host: null,
}

/**
 * Follows the registrations of domains. One of a deleted organization is dropped: tombstones outlive every late event,
 * and the purge finds what was written before them.
 */
export function domainsConsumer({
  service,
  kafka,
  db,
}: {
  readonly service: ServiceName
  readonly kafka: Kafka
  readonly db: Database
}): Consumer<DomainsTopic> {
  return new Consumer({
    kafka,
    db,
    service,
    topic: topics['domains.state'],
    handlers: {
      'domain.changed': {
        async effect(tx, { payload: { domain_uid: id, tracking_host = null, ...state } }) {
          if (!(await holdScopes(tx, [state.organization_id]))) return
          await registrations.apply(tx, { ...state, id, tracking_host, deleted_at: null })
        },
      },
      'domain.deleted': {
        async effect(tx, { payload: { domain_uid: id, ...state } }) {
          if (await holdScopes(tx, [state.organization_id])) await registrations.apply(tx, { ...NOTHING, ...state, id })
        },
      },
    },
  })
}
