import { normalizeAddress } from '@restante/mime'
import { subnetOf } from '@restante/service/connections'
import { getDomain } from 'tldts'
import type { ReportedDelivery } from './store.ts'

/** Where a report came from. */
export interface ReportOrigin {
  readonly peer?: string | undefined
  /** Domains for which SPF or DKIM passed. */
  readonly authenticated?: readonly string[] | undefined
}

/**
 * Whether a report comes from where the mail was delivered (events 1.3): from the network of the server that accepted
 * it, or authenticated for the organizational domain of that server or of the recipient. The return path alone proves
 * nothing: everyone who received the mail knows it.
 */
export function isFromWhereItWent(
  { peer, authenticated = [] }: ReportOrigin,
  { recipient, acceptedBy }: Pick<ReportedDelivery, 'recipient' | 'acceptedBy'>,
): boolean {
  const { host, address } = acceptedBy
  if (peer !== undefined && address !== undefined && subnetOf(peer) === subnetOf(address)) return true
  const normal = normalizeAddress(recipient)
  const known = [normal.slice(normal.lastIndexOf('@') + 1), ...(host === undefined ? [] : [host])].map(organization)
  return authenticated.some((domain) => known.includes(organization(domain)))
}

/** The organizational domain by the Public Suffix List; a name without one is returned unchanged. */
function organization(domain: string): string {
  const name = domain.toLowerCase().replace(/\.$/, '')
  return getDomain(name, { allowPrivateDomains: true }) ?? name
}
