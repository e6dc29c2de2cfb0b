import type { MxRecord } from 'node:dns'
import { hostOf, mxText, shown } from './found.ts'
import { invalid, missing, VALID, type Verdict } from './verdict.ts'

/**
 * MX records that must name a host, with any priority.
 * @param mayShare whether other hosts may be named as well.
 */
export function judgeMx(records: readonly MxRecord[], target: string, mayShare: boolean): Verdict {
  if (records.length === 0) return missing()
  const others = records.filter(({ exchange }) => hostOf(exchange) !== hostOf(target))
  if (others.length === records.length) return invalid('value_mismatch', shown(others.map(mxText)))
  return others.length === 0 || mayShare ? VALID : invalid('duplicate_records', shown(others.map(mxText)))
}
