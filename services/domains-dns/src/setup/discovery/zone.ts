import { getDomain } from 'tldts'
import type { Resolvers } from '../../dns/resolvers.ts'

/**
 * Finds the zone that a name is in: the name itself or the nearest one above it that has an SOA record, not above the
 * registrable name. A name server that fails counts as having none.
 * @param name lower case, in A-labels.
 */
export async function findZoneApex(dns: Pick<Resolvers, 'ask'>, name: string): Promise<string | undefined> {
  const highest = getDomain(name, { allowPrivateDomains: false }) ?? name
  for (let candidate = name; ; candidate = candidate.slice(candidate.indexOf('.') + 1)) {
    const { kind } = await dns.ask({ name: candidate, type: 'SOA' })
    if (kind === 'records') return candidate
    if (candidate === highest || !candidate.includes('.')) return undefined
  }
}
