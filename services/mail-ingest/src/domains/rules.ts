import { type Registration, standingOf } from '@restante/domains'

/**
 * Whether an organization's addresses at `domain` receive no mail (mail 13 step 1, domains 2.2, 5 and 8): its domain was
 * deleted, went to another organization, or receives none at this name.
 */
export function refusesMail(domain: string, organizationId: string, registrations: readonly Registration[]): boolean {
  const { registration, holds } = standingOf(domain, organizationId, registrations)
  if (registration === undefined || !holds) return true
  return registration.domain === domain ? !registration.inbound_enabled : !registration.subdomains_enabled
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

/** Whether mail of a custom domain returns to this name: its MX record names this installation (domains 3). */
export function isReturnPath(domain: string, registrations: readonly Registration[]): boolean {
  return registrations.some((one) => one.return_path === domain && !one.deleted)
}
