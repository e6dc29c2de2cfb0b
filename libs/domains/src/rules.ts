import type { Registration } from './registrations.ts'

/** Fewest labels of a name that can be registered (domains 2.1). */
const FEWEST_LABELS = 2

/** The names by which an address at `domain` can belong to a registration: itself, and those above it. */
export function registrableNames(domain: string): string[] {
  const labels = domain.split('.')
  const count = Math.max(0, labels.length - FEWEST_LABELS + 1)
  return Array.from({ length: count }, (_, index) => labels.slice(index).join('.'))
}

/** Where an organization stands with the domain of an address. */
export interface Standing {
  /** Its most specific live registration, whose switches count (domains 5). */
  readonly registration: Registration | undefined
  /**
   * Whether it has proven this domain or one above it, and no other organization has proven it, or a name between the
   * two, which would then be the holder of the address.
   */
  readonly holds: boolean
}

/** @param registrations of all organizations, of the domain and those above it. */
export function standingOf(domain: string, organizationId: string, registrations: readonly Registration[]): Standing {
  const proven = registrations.filter((one) => one.proven && !one.deleted)
  const nearest = registrableNames(domain).find((name) => proven.some((one) => one.domain === name))
  return {
    registration: registrationOf(domain, organizationId, registrations),
    holds: proven.some((one) => one.domain === nearest && one.organization_id === organizationId),
  }
}

/** The live registration that an address of an organization follows: its most specific one (domains 5). */
export function registrationOf(
  domain: string,
  organizationId: string,
  registrations: readonly Registration[],
): Registration | undefined {
  const live = registrations.filter((one) => one.organization_id === organizationId && !one.deleted)
  return registrableNames(domain).flatMap((name) => live.find((one) => one.domain === name) ?? [])[0]
}
