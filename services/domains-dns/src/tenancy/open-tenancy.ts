import type { Kafka } from '@restante/messaging'
import { type Database, sql, type Tx } from '@restante/service/database'
import type { Logger } from '@restante/service/telemetry'
import { type DeletedScope, Tenancy } from '@restante/tenancy'
import { type RemovalOptions, removeDomain } from '../removal/remove.ts'
import { deleteSetups } from '../setup/store.ts'
import { lockForChange } from '../status/store.ts'

export interface OpenTenancyOptions extends RemovalOptions {
  readonly kafka: Kafka
  readonly db: Database
  readonly log: Logger
}

/** A deleted pod or organization takes its domains along, as if each was deleted. Inboxes have none. */
export function openTenancy(options: OpenTenancyOptions): Tenancy {
  const { kafka, db, log } = options
  const purge = { atOnce: (tx: Tx, scope: DeletedScope) => removeDomainsOf(tx, options, scope) }
  return new Tenancy({ service: 'domains-dns', kafka, db, log, purge })
}

// By name, the order in which other transactions lock several registrations.
const OF_SCOPE = sql<{ uid: string }, [organizationId: string, podId: string | null]>(
  'select uid from domains where organization_id = $1 and ($2::uuid is null or pod_id = $2) order by name',
)

async function removeDomainsOf(
  tx: Tx,
  deps: RemovalOptions,
  { kind, id, organization_id }: DeletedScope,
): Promise<void> {
  if (kind === 'inbox') return
  if (kind === 'organization') await deleteSetups(tx, organization_id)
  for (const { uid } of await tx.query(OF_SCOPE, organization_id, kind === 'pod' ? id : null)) {
    const row = await lockForChange(tx, uid)
    if (row) await removeDomain(tx, deps, row)
  }
}
