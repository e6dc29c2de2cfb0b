import { hostOf, shown } from './found.ts'
import { invalid, missing, VALID, type Verdict } from './verdict.ts'

/**
 * The alias of a name, which must be a host itself, not through further aliases.
 * @param addresses of the name, where it has no alias.
 */
export function judgeCname(aliases: readonly string[], addresses: readonly string[], target: string): Verdict {
  if (aliases.some((alias) => hostOf(alias) === hostOf(target))) return VALID
  const others = aliases.length > 0 ? aliases.map(hostOf) : addresses
  return others.length > 0 ? invalid('value_mismatch', shown(others)) : missing()
}
