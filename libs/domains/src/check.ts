import type { Check } from '@restante/contracts/internal'
import { projectionCheck } from '@restante/messaging'
import type { Database } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { holdScopes } from '@restante/tenancy'
import { registrationStateOf, registrations } from './registrations.ts'
import { snapshotOf } from './snapshot.ts'

/** Compares the registrations of domains that a service knows with those of their owner, and repairs what differs. */
export function domainsCheck(db: Database, owner: Pick<ServiceClient, 'call'>): Check {
  return projectionCheck({
    db,
    snapshot: snapshotOf(owner),
    idOf: ({ domain_uid }) => domain_uid,
    rows: (on, after, through, most) => registrations.between(on, after, through, most),
    drop: (tx, id, version) => registrations.drop(tx, id, version),
    async apply(tx, domain) {
      if (await holdScopes(tx, [domain.organization_id])) await registrations.apply(tx, registrationStateOf(domain))
    },
  })
}
