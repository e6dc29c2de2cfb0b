import { type DomainState, topics } from '@restante/contracts/events'
import type { Outbox } from '@restante/messaging'
import type { Tx } from '@restante/service/database'
import { returnPathOf, trackingHostOf } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import type { DomainRow } from './store.ts'

const topic = topics['domains.state']

/** Records the state of a registration in the transaction that changed it. */
export async function publishState(tx: Tx, outbox: Outbox, row: DomainRow, installation: Installation): Promise<void> {
  await outbox.add(tx, topic, topic.event('domain.changed', stateOf(row, installation), { time: row.updated_at }))
}

/** Records that a registration is gone. @param row its last state; the deletion is the version after it. */
export async function publishDeletion(tx: Tx, outbox: Outbox, row: DomainRow, now: Date): Promise<void> {
  const payload = { ...identityOf(row), version: row.version + 1, deleted_at: now.toISOString() }
  await outbox.add(tx, topic, topic.event('domain.deleted', payload, { time: now }))
}

/** What other services know of a registration. */
export function stateOf(row: DomainRow, installation: Installation): DomainState {
  return {
    ...identityOf(row),
    version: row.version,
    status: row.status,
    inbound_enabled: row.inbound_enabled,
    subdomains_enabled: row.subdomains_enabled,
    feedback_enabled: row.feedback_enabled,
    tracking_enabled: row.tracking_enabled,
    proven: isProven(row),
    sending_ready: row.sending_ready,
    return_path: returnPathOf(row.name, installation),
    ...(servesImages(row) && { tracking_host: trackingHostOf(row.name) }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Whether its organization has proven the name, and no other has since. */
function isProven({ last_verified_at, lost_at }: DomainRow): boolean {
  return last_verified_at !== null && lost_at === null
}

/** Whether the images that tell of opening are served: the record is there, and a certificate for its host (domains 4). */
function servesImages({ tracking_enabled, records, certified_until }: DomainRow): boolean {
  return tracking_enabled && records.tracking?.status === 'VALID' && certified_until !== null
}

function identityOf(row: DomainRow) {
  return {
    organization_id: row.organization_id,
    ...(row.pod_id !== null && { pod_id: row.pod_id }),
    domain_uid: row.uid,
    domain: row.name,
  }
}
