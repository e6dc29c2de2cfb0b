import type { Domain, DomainItem, VerificationRecord } from '@restante/contracts/resources'
import type { RecordChecks } from '../records/checks.ts'
import { type ExpectedRecord, expectedRecords, type PublishedKey } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import type { DomainRow } from './store.ts'

/** A domain as the API shows it (domains 2.4). */
export function domainDocument(row: DomainRow, key: PublishedKey, installation: Installation): Domain {
  return {
    ...domainItem(row),
    ...(row.reason !== null && { reason: row.reason }),
    records: expectedRecords(row, key, installation).map((record) => recordDocument(record, row.records)),
  }
}

/** The same in lists (domains 2.3). */
export function domainItem(row: DomainRow): DomainItem {
  return {
    ...(row.pod_id !== null && { pod_id: row.pod_id }),
    domain_id: row.name,
    domain: row.name,
    status: row.status,
    feedback_enabled: row.feedback_enabled,
    inbound_enabled: row.inbound_enabled,
    subdomains_enabled: row.subdomains_enabled,
    tracking_enabled: row.tracking_enabled,
    ...(row.client_id !== null && { client_id: row.client_id }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function recordDocument({ kind, ...record }: ExpectedRecord, checks: RecordChecks): VerificationRecord {
  const check = checks[kind]
  if (!check) return { ...record, status: 'MISSING' }
  const { status, reason, found, hint, checked_at } = check
  return {
    ...record,
    status,
    ...(reason !== undefined && { reason }),
    ...(found.length > 0 && { found }),
    ...(hint !== undefined && { hint }),
    checked_at,
  }
}
