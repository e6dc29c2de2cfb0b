import { type Topic, topics } from '@restante/contracts/events'
import { Consumer, type Kafka } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import { holdScopes } from '@restante/tenancy'
import { domains } from './store.ts'

type DomainsTopic = Topic<'domains.state'>

const NO_SWITCHES = { inbound_enabled: false, subdomains_enabled: false, feedback_enabled: false }

/**
 * Follows the registrations of domains. One of a deleted organization is dropped: tombstones outlive every late event,
 * and the purge finds what was written before them.
 */
export function domainsConsumer({
  kafka,
  db,
}: {
  readonly kafka: Kafka
  readonly db: Database
}): Consumer<DomainsTopic> {
  return new Consumer({
    kafka,
    db,
    service: 'mail-ingest',
    topic: topics['domains.state'],
    handlers: {
      'domain.changed': {
        async effect(tx, { payload: { domain_uid: id, ...state } }) {
          if (await holdScopes(tx, [state.organization_id])) await domains.apply(tx, { ...state, id, deleted_at: null })
        },
      },
      'domain.deleted': {
        async effect(tx, { payload: { domain_uid: id, ...state } }) {
          if (await holdScopes(tx, [state.organization_id])) await domains.apply(tx, { ...NO_SWITCHES, ...state, id })
        },
      },
    },
  })
}
