/** Number of shares of organizations. They are few, because each is looked at with every poll. */
export const ORGANIZATION_SHARES = 64

/**
 * The share of an organization among the timers of a kind that has `ORGANIZATION_SHARES` or more (`WorkOptions.shares`):
 * what waits for one organization delays few others.
 * @param organizationId a UUID.
 */
export function shareOfOrganization(organizationId: string): number {
  return Number.parseInt(organizationId.slice(0, 8), 16) % ORGANIZATION_SHARES
}
