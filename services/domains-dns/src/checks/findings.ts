import { isDeepStrictEqual } from 'node:util'
import type { AskAll } from '../dns/resolvers.ts'
import type { JudgeOptions, Verdict } from '../matching/families/verdict.ts'
import type { MailboxProvider } from '../providers/table.ts'
import type { RecordCheck, RecordChecks, SendingChecks } from '../records/checks.ts'
import { type ExpectedRecord, expectedRecords, type PublishedKey, type RecordKind } from '../records/expected.ts'
import type { Installation } from '../records/installation.ts'
import type { DomainRow } from '../registrations/store.ts'
import { explain } from './explain.ts'
import { lookUp, type Seen } from './look-up.ts'

/** What a check found of a registration; nothing is written yet. */
export interface Findings {
  readonly required: readonly RecordKind[]
  /** Kinds for which DNS gave an answer. */
  readonly answered: readonly RecordKind[]
  /** All records, those without an answer as they were. */
  readonly records: RecordChecks
  /** Of a registration whose records are valid and that is not verified yet. */
  readonly sending?: SendingChecks
}

export interface InspectOptions {
  readonly ask: AskAll
  readonly quorum: number
  readonly installation: Installation
  readonly providers: readonly MailboxProvider[]
  readonly checkSending: (row: DomainRow, ask: AskAll) => Promise<SendingChecks>
  /**
   * Whether hints may be those of the check before, where it found the same: looking for mistakes takes several times the
   * queries that the records take.
   */
  readonly keepsHints: boolean
}

/** Asks DNS for every record of a registration, and checks sending once all are valid. It writes nothing. */
export async function inspect(options: InspectOptions, row: DomainRow, key: PublishedKey): Promise<Findings> {
  const expected = expectedRecords(row, key, options.installation)
  const found = await Promise.all(expected.map((record) => inspectRecord(options, row, record, expected)))
  const checks = found.flatMap((check, index) => {
    const kind = expected[index]?.kind
    return check !== undefined && kind !== undefined ? [[kind, check] as const] : []
  })
  const records: RecordChecks = { ...row.records, ...Object.fromEntries(checks) }
  const required = expected.map(({ kind }) => kind)
  const answered = checks.map(([kind]) => kind)
  const isReady = row.status !== 'VERIFIED' && required.every((kind) => records[kind]?.status === 'VALID')
  if (!isReady || answered.length === 0) return { required, answered, records }
  return { required, answered, records, sending: await options.checkSending(row, options.ask) }
}

async function inspectRecord(
  { ask, quorum, providers, keepsHints }: InspectOptions,
  row: DomainRow,
  record: ExpectedRecord,
  expected: readonly ExpectedRecord[],
): Promise<RecordCheck | undefined> {
  const judging: JudgeOptions = { quorum, wasValid: row.records[record.kind]?.status === 'VALID' }
  const seen = await lookUp(ask, record, { ...judging, allowsOthers: row.allow_conflicting_provider })
  if (!isAnswered(seen)) return undefined
  const { verdict, records } = seen
  const before = row.records[record.kind]
  const hint =
    verdict.status === 'VALID'
      ? undefined
      : keepsHints && isSame(before, verdict)
        ? before.hint
        : await explain({ ask, providers }, { record, verdict, records }, { domain: row.name, expected })
  return {
    status: verdict.status,
    ...(verdict.reason !== undefined && { reason: verdict.reason }),
    found: [...verdict.found],
    ...(hint !== undefined && { hint }),
    checked_at: new Date().toISOString(),
  }
}

function isSame(before: RecordCheck | undefined, { status, reason, found }: Verdict): before is RecordCheck {
  return before?.status === status && before.reason === reason && isDeepStrictEqual(before.found, found)
}

function isAnswered(seen: Seen): seen is Seen & { verdict: NonNullable<Seen['verdict']> } {
  return seen.verdict !== undefined
}
