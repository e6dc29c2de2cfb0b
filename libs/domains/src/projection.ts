import type { DomainState, Topic } from '@restante/contracts/events'
import { topics } from '@restante/contracts/events'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { type Kafka, Projection } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { holdScopes } from '@restante/tenancy'
import { NOTHING_LEFT, registrationStateOf, registrations } from './registrations.ts'
import { snapshotOf } from './snapshot.ts'

type DomainsTopic = Topic<'domains.state'>

export interface DomainsProjectionOptions {
  readonly service: ServiceName
  readonly kafka: Kafka
  readonly db: Database
  /** The client of domains-dns. */
  readonly owner: Pick<ServiceClient, 'call'>
  /** Default: a day. */
  readonly reconcileEveryMs?: number
}

/**
 * Follows the registrations of domains, from the snapshot of their owner on. One of a deleted organization is dropped:
 * tombstones outlive every late event, and the purge finds what was written before them.
 */
export function domainsProjection(options: DomainsProjectionOptions): Projection<DomainsTopic, DomainState> {
  const { owner, ...own } = options
  return new Projection<DomainsTopic, DomainState>({
    ...own,
    topic: topics['domains.state'],
    handlers: {
      'domain.changed': {
        async effect(tx, { payload }) {
          if (!(await holdScopes(tx, [payload.organization_id]))) return
          await registrations.apply(tx, registrationStateOf(payload))
        },
      },
      'domain.deleted': {
        async effect(tx, { payload: { domain_uid: id, ...state } }) {
          if (!(await holdScopes(tx, [state.organization_id]))) return
          await registrations.apply(tx, { ...NOTHING_LEFT, ...state, id })
        },
      },
    },
    snapshot: snapshotOf(owner),
    store: {
      async apply(tx, domains, at) {
        for (const domain of domains) {
          if (await holdScopes(tx, [domain.organization_id])) await registrations.apply(tx, registrationStateOf(domain))
        }
        const ids = domains.map((domain) => domain.domain_uid)
        await registrations.markSeen(tx, ids, at)
      },
      sweep: (tx, at) => registrations.deleteUnseen(tx, at),
    },
  })
}
