import type { InternalRequestOf, InternalResponseOf } from '@restante/contracts/internal'
import type { Queryable } from '@restante/service/database'
import { namesFrom } from '../names/registrable.ts'
import { type RecordKind, returnPathOf, trackingHostOf } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import { findNamed } from '../registrations/find.ts'
import type { DomainRow } from '../registrations/store.ts'

type Question = InternalRequestOf<'domains-dns.findInboxDomain'>
type Answer = InternalResponseOf<'domains-dns.findInboxDomain'>

/** Records without which mail can neither be sent nor trusted. */
const OF_SENDING: readonly RecordKind[] = ['return_mx', 'spf', 'dkim', 'dmarc']

/** Whether a new inbox may be on a name, and the registration that it follows (domains 5, 7.3). */
export async function findInboxDomain(on: Queryable, question: Question, installation: Installation): Promise<Answer> {
  const names = namesFrom(question.name)
  const rows = await findNamed(on, question.organization_id, names)
  // The most specific name of the organization decides, also for pods that cannot use it: mail follows it as well.
  const [row] = rows.toSorted((a, b) => b.name.length - a.name.length)
  if (!row || (row.pod_id !== null && row.pod_id !== question.pod_id)) return { outcome: 'unknown' }
  return { outcome: outcomeOf(question.name, row, rows, installation), domain: row.name }
}

function outcomeOf(
  name: string,
  row: DomainRow,
  above: readonly DomainRow[],
  installation: Installation,
): Answer['outcome'] {
  if (above.some((one) => one.tracking_enabled && isWithin(name, trackingHostOf(one.name)))) return 'reserved'
  if (name !== row.name && !row.subdomains_enabled) return 'no_subdomains'
  if (name === returnPathOf(row.name, installation)) return 'reserved'
  return isOpen(row) ? 'open' : 'not_verified'
}

/** A domain that was verified stays open while only what sending does not need is outstanding: records, or a certificate. */
function isOpen({ status, reason, verified_at, lost_at, barred_at, records }: DomainRow): boolean {
  if (status === 'VERIFIED') return true
  if (verified_at === null || lost_at !== null || barred_at !== null) return false
  const needsRecords = status === 'PENDING' || status === 'INVALID'
  const needsCertificate = reason === 'infra_not_verified_for_sending'
  return (needsRecords || needsCertificate) && OF_SENDING.every((kind) => records[kind]?.status === 'VALID')
}

function isWithin(name: string, zone: string): boolean {
  return name === zone || name.endsWith(`.${zone}`)
}
