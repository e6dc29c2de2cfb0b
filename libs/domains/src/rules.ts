import type { Registration } from './registrations.ts'

/** Fewest labels of a name that can be registered (domains 2.1). */
const FEWEST_LABELS = 2

/** The names by which an address at `domain` can belong to a registration: itself, and those above it. */
export function registrableNames(domain: string): string[] {
  const labels = domain.split('.')
  const count = Math.max(0, labels.length - FEWEST_LABELS + 1)
  return Array.from({ length: count }, (_, index) => labels.slice(index).join('.'))
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
