import { hostOf, shown, txtValue } from './found.ts'
import { invalid, missing, VALID, type Verdict } from './verdict.ts'

const POLICY = /^v=spf1(?: |$)/i
/** Meant as a policy, though with quotes or blanks that make it none. */
const MEANT = /^[\s"'\\]*v=spf1/i

/** TXT records at the return path, of which exactly one must be a policy that includes the one of the installation. */
export function judgeSpf(records: readonly (readonly string[])[], expected: string): Verdict {
  const values = records.map(txtValue)
  const policies = values.filter((value) => POLICY.test(value))
  const included = includesOf(expected)
  const isMatching = (value: string) => included.every((name) => includesOf(value).includes(name))
  const matching = policies.filter(isMatching)
  if (policies.length === 1 && matching.length === 1) return VALID
  if (matching.length > 0) return invalid('duplicate_records', shown(policies))
  const meant = values.filter((value) => MEANT.test(value))
  return meant.length > 0 ? invalid('value_mismatch', shown(meant)) : missing(shown(values))
}

/** Names that a policy includes and that make it pass: without a qualifier, or with `+` (RFC 7208 4.6.2). */
function includesOf(policy: string): readonly string[] {
  return policy.split(/\s+/).flatMap((term) => {
    const [, name] = /^\+?include:(.+)$/i.exec(term) ?? []
    return name === undefined ? [] : [hostOf(name)]
  })
}
