import type { ServiceClient } from '@restante/service/http'

/**
 * The number of live domains of an organization, or of one of its pods, which their owner counts.
 * @throws UpstreamError when it does not answer.
 */
export async function countDomains(
  domainsDns: ServiceClient<'gateway'>,
  organizationId: string,
  podId?: string,
): Promise<number> {
  const scope = { organization_id: organizationId, ...(podId !== undefined && { pod_id: podId }) }
  return (await domainsDns.call('domains-dns.countDomains', scope)).count
}
