import { getDomain } from 'tldts'

/** The question that the search asks DNS. It fails as `node:dns` does. */
export interface SoaLookup {
  resolveSoa(name: string): Promise<unknown>
}

/**
 * Finds the zone that a name is in: the name itself or the nearest one above it that has an SOA record, not above the
 * registrable name. A name server that fails counts as having none.
 * @param name lower case, in A-labels.
 */
export async function findZoneApex(dns: SoaLookup, name: string): Promise<string | undefined> {
  const highest = getDomain(name, { allowPrivateDomains: false }) ?? name
  for (let candidate = name; ; candidate = candidate.slice(candidate.indexOf('.') + 1)) {
    const isApex = await dns.resolveSoa(candidate).then(
      () => true,
      () => false,
    )
    if (isApex) return candidate
    if (candidate === highest || !candidate.includes('.')) return undefined
  }
}
