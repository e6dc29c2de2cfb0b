import type { MxRecord } from 'node:dns'
import type { ExpectedRecord } from '../../records/expected.ts'
import { judgeDkim } from './dkim.ts'
import { judgeDmarc } from './dmarc.ts'
import { judgeMx } from './mx.ts'
import { judgeSpf } from './spf.ts'
import type { Verdict } from './verdict.ts'

/** @param allowsOthers whether the domain was registered although a mailbox provider receives its mail. */
export function judgeMxRecord(
  { kind, value }: ExpectedRecord,
  records: readonly MxRecord[],
  allowsOthers: boolean,
): Verdict {
  return judgeMx(records, value, allowsOthers && kind !== 'return_mx')
}

export function judgeTxtRecord({ kind, value }: ExpectedRecord, records: readonly (readonly string[])[]): Verdict {
  if (kind === 'spf') return judgeSpf(records, value)
  return kind === 'dkim' ? judgeDkim(records, value) : judgeDmarc(records)
}
