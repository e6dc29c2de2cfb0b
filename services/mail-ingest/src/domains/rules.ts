import { type Registration, registrationOf } from '@restante/domains'

/**
 * Whether an organization's addresses at `domain` receive no mail (mail 13 step 1, domains 2.2, 5 and 8): its domain was
 * deleted, or receives none at this name. A name of which no registration is known is none of a custom domain, or of
 * one whose event has not arrived yet; whether there is such an inbox then decides alone.
 */
export function refusesMail(domain: string, organizationId: string, registrations: readonly Registration[]): boolean {
  const nearest = registrationOf(domain, organizationId, registrations)
  if (nearest === undefined) return registrations.some((one) => one.organization_id === organizationId)
  return nearest.domain === domain ? !nearest.inbound_enabled : !nearest.subdomains_enabled
}

/** The same for an address that no organization has: none of those that have registered its domain receives mail there. */
export function nobodyReceives(domain: string, registrations: readonly Registration[]): boolean {
  const organizations = [...new Set(registrations.map((one) => one.organization_id))]
  return organizations.length > 0 && organizations.every((id) => refusesMail(domain, id, registrations))
}

/**
 * Whether `dmarc` is an address at this domain without being an inbox (domains 3): where the DNS records of registered
 * domains ask other servers to send their DMARC reports.
 */
export function takesDmarcReports(domain: string, registrations: readonly Registration[]): boolean {
  return registrations.some((one) => one.domain === domain && !one.deleted && one.inbound_enabled)
}
