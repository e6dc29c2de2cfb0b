import type { RecordReason, RecordStatus } from '@restante/contracts/vocabulary'
import { type Answer, bestOf, type QueryType } from '../../dns/answer.ts'

/** What one answer says of a record (domains 3.1). */
export interface Verdict {
  readonly status: RecordStatus
  readonly reason?: RecordReason
  /** What DNS answered instead of, or beside, the expected value. */
  readonly found: readonly string[]
}

export const VALID: Verdict = { status: 'VALID', found: [] }

export function missing(found: readonly string[] = []): Verdict {
  return { status: 'MISSING', found }
}

export function invalid(reason: RecordReason, found: readonly string[]): Verdict {
  return { status: 'INVALID', reason, found }
}

/** The better of verdicts; the first of equal ones. */
export function better(first: Verdict, second: Verdict): Verdict {
  return rank(second) > rank(first) ? second : first
}

function rank({ status, reason }: Verdict): number {
  if (status === 'VALID') return 3
  if (status === 'MISSING') return 0
  return reason === 'duplicate_records' ? 2 : 1
}

export interface JudgeOptions {
  /** Answers that are needed before a good record is believed to be bad. */
  readonly quorum: number
  readonly wasValid: boolean
}

/**
 * The best verdict over the answers of all resolvers, so that a stale cache of one fails nothing. Pure.
 * @returns undefined when nothing is known, so that the record keeps its status.
 */
export function judgeAll<T extends QueryType>(
  answers: readonly Answer<T>[],
  judge: (records: Extract<Answer<T>, { kind: 'records' }>['records']) => Verdict,
  { quorum, wasValid }: JudgeOptions,
): Verdict | undefined {
  const known = answers.flatMap((answer) => {
    if (answer.kind === 'failed') return []
    return [answer.kind === 'records' ? judge(answer.records) : missing()]
  })
  if (known.length === 0) return undefined
  const best = known.reduce(better)
  return best.status !== 'VALID' && wasValid && known.length < quorum ? undefined : best
}

/** The records of the best answer, for hints. */
export function recordsOf<T extends QueryType>(answers: readonly Answer<T>[]) {
  const best = bestOf(answers)
  return best.kind === 'records' ? best.records : []
}
