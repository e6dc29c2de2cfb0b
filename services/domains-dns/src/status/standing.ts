import type { DomainReason, DomainStatus } from '@restante/contracts/vocabulary'
import type { RecordChecks, SendingChecks, SendingOutcome } from '../records/checks.ts'
import type { RecordKind } from '../records/expected.ts'

/** Records and checks of sending that have not become valid by then have failed (domains 7.1). */
export const CONVERGENCE_MS = 72 * 60 * 60_000

/** What the status of a registration follows from. */
export interface Facts {
  /** Whether DNS has ever answered for it. */
  readonly isChecked: boolean
  /** Whether another organization holds proof of the name. */
  readonly isHeld: boolean
  readonly required: readonly RecordKind[]
  readonly records: RecordChecks
  readonly sending: SendingChecks
  readonly isBarred: boolean
  /** Whether the certificate of its tracking host is there, or none is needed. */
  readonly isCertified: boolean
  /** Since when all records have been valid. */
  readonly convergingSince: Date | null
}

export interface Standing {
  readonly status: DomainStatus
  readonly reason: DomainReason | null
}

/** Status and reason of a registration that need not stay verified (domains 7.1). Pure. */
export function standingOf(facts: Facts, now: Date): Standing {
  if (facts.isHeld) return { status: 'FAILED', reason: 'dns_records_invalid' }
  if (!facts.isChecked) return { status: 'NOT_STARTED', reason: 'dns_records_missing' }
  const statuses = facts.required.map((kind) => facts.records[kind]?.status ?? 'MISSING')
  if (statuses.includes('INVALID')) return { status: 'INVALID', reason: 'dns_records_invalid' }
  if (statuses.includes('MISSING')) return { status: 'PENDING', reason: 'dns_records_missing' }
  return sendingStanding(facts, now)
}

function sendingStanding(facts: Facts, now: Date): Standing {
  const { sending, isBarred, isCertified, convergingSince } = facts
  const isOverdue = convergingSince !== null && now.getTime() - convergingSince.getTime() >= CONVERGENCE_MS
  const status = isOverdue ? 'FAILED' : 'VERIFYING'
  // DKIM is reported first, whatever else has not passed.
  if (sending.dkim !== 'passed')
    return { status, reason: isOverdue ? 'infra_dkim_failed' : DKIM_REASONS[sending.dkim ?? 'failed'] }
  if (sending.mail_from !== 'passed')
    return { status, reason: isOverdue ? 'infra_mail_from_failed' : MAIL_FROM_REASONS[sending.mail_from ?? 'failed'] }
  // Waiting does not lift a bar.
  if (isBarred) return { status: 'FAILED', reason: 'infra_not_verified_for_sending' }
  if (!isCertified) return { status, reason: 'infra_not_verified_for_sending' }
  return { status: 'VERIFIED', reason: null }
}

type Reasons = Readonly<Record<Exclude<SendingOutcome, 'passed'>, DomainReason>>

/** Until it has had its time to converge, an error is a check whose result is still pending. */
const DKIM_REASONS: Reasons = {
  not_started: 'infra_dkim_not_started',
  unanswered: 'infra_dkim_temporary_failure',
  failed: 'infra_dkim_pending',
}
const MAIL_FROM_REASONS: Reasons = {
  not_started: 'infra_mail_from_not_started',
  unanswered: 'infra_mail_from_temporary_failure',
  failed: 'infra_mail_from_pending',
}
