import type { Organization } from '../generated/prisma/client.ts'

/**
 * Most domains of an organization (domains 2.1). One that signed up by itself and is not verified has none, whatever its
 * own limit: else a stranger could claim names.
 * @param common the limit of organizations that have none of their own.
 */
export function domainLimitOf(
  { authenticationType, domainLimit }: Pick<Organization, 'authenticationType' | 'domainLimit'>,
  common: number,
): number {
  return authenticationType === 'agent_unverified' ? 0 : (domainLimit ?? common)
}
