import { shown, txtValue } from './found.ts'
import { tagsOf } from './tags.ts'
import { invalid, missing, VALID, type Verdict } from './verdict.ts'

const POLICY = /^v\s*=\s*DMARC1\s*(?:;|$)/
const MEANT = /^[\s"'\\]*v\s*=\s*DMARC1/i
const ACTIONS = new Set(['none', 'quarantine', 'reject'])

/** TXT records at `_dmarc`, of which exactly one must be a policy, whatever it demands. */
export function judgeDmarc(records: readonly (readonly string[])[]): Verdict {
  const values = records.map(txtValue)
  const policies = values.filter((value) => POLICY.test(value))
  if (policies.length > 1) return invalid('duplicate_records', shown(policies))
  const [policy] = policies
  if (policy !== undefined && ACTIONS.has(tagsOf(policy).get('p')?.toLowerCase() ?? '')) return VALID
  const meant = values.filter((value) => MEANT.test(value))
  return meant.length > 0 ? invalid('value_mismatch', shown(meant)) : missing(shown(values))
}
