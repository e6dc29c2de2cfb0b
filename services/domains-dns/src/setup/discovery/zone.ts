import { getDomain } from 'tldts'
import type { Resolvers } from '../../dns/resolvers.ts'

/** A zone may begin at each of up to 126 labels of a name, and name servers need not answer. */
const WALK_MS = 8_000

/**
 * Finds the zone that a name is in: the name itself or the nearest one above it that has an SOA record, not above the
 * registrable name. A name server that fails counts as having none; the search ends after some seconds.
 * @param name lower case, in A-labels.
 */
export async function findZoneApex(dns: Pick<Resolvers, 'ask'>, name: string): Promise<string | undefined> {
  const highest = getDomain(name, { allowPrivateDomains: false }) ?? name
  const deadline = performance.now() + WALK_MS
  for (let candidate = name; performance.now() < deadline; candidate = candidate.slice(candidate.indexOf('.') + 1)) {
    const { kind } = await dns.ask({ name: candidate, type: 'SOA' })
    if (kind === 'records') return candidate
    if (candidate === highest || !candidate.includes('.')) break
  }
  return undefined
}
