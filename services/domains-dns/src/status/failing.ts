import type { RecordChecks } from '../records/checks.ts'
import type { RecordKind } from '../records/expected.ts'

const MINUTE = 60_000
/** Checks in a row that find a record of a verified domain not valid, and the time over which they are spread. */
const FAILING_CHECKS = 3
const FAILING_MS = 60 * MINUTE

export interface Failing {
  readonly failing_checks: number
  readonly failing_since: Date | null
}

/** A verified domain whose latest check was good. */
export const NOT_FAILING: Failing = { failing_checks: 0, failing_since: null }

/**
 * Counts a check of a verified domain. Records without an answer count for nothing: they neither add to a series of
 * failing checks nor end it. Pure.
 */
export function countCheck(before: Failing, { required, records, answered }: CheckedRecords, now: Date): Failing {
  const isBad = (kind: RecordKind) => records[kind]?.status !== 'VALID'
  if (required.some((kind) => answered.includes(kind) && isBad(kind)))
    return { failing_checks: before.failing_checks + 1, failing_since: before.failing_since ?? now }
  const isComplete = required.every((kind) => answered.includes(kind))
  return isComplete ? NOT_FAILING : before
}

export interface CheckedRecords {
  readonly required: readonly RecordKind[]
  /** As they are after the check. */
  readonly records: RecordChecks
  /** Kinds for which DNS gave an answer. */
  readonly answered: readonly RecordKind[]
}

/** Whether a verified domain has failed often and long enough to lose its status (domains 7.2). Pure. */
export function hasFallen({ failing_checks, failing_since }: Failing, now: Date): boolean {
  if (failing_since === null || failing_checks < FAILING_CHECKS) return false
  return now.getTime() - failing_since.getTime() >= FAILING_MS
}
