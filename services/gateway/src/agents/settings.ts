import { invalid } from '@restante/service/errors'

/** How this installation lets agents sign up (identity 5). */
export interface SignUpSettings {
  /** Refused for human addresses, including all subdomains, in addition to the shared domains of the installation. */
  readonly refusedDomains: ReadonlySet<string>
  /** The result of a repeated sign-up of a verified human: a key to be confirmed with a code, or 403. */
  readonly verifiedHuman: 'provisional' | 'refuse'
  /** Limits of an organization once it is verified; undefined: none. */
  readonly verifiedInboxLimit: number | undefined
  readonly verifiedDomainLimit: number | undefined
}

/** @throws ApiError 400 at `human_email` for an address that cannot belong to an external human. */
export function refuseDomain(address: string, refused: ReadonlySet<string>, shared: ReadonlySet<string>): void {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  if (shared.has(domain)) throw invalid(['human_email'], 'Must be an address of a human, outside this service')
  if (withParents(domain).some((name) => refused.has(name))) {
    throw invalid(['human_email'], 'Addresses of this domain are not accepted')
  }
}

/** A domain and those above it: `a.b.c` is also under `b.c` and `c`. */
function withParents(domain: string): string[] {
  const labels = domain.split('.')
  return labels.map((_label, index) => labels.slice(index).join('.'))
}
