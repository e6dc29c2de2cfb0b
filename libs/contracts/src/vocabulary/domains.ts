/** States of a registered domain (domains 7.1). */
export const DOMAIN_STATUSES = ['NOT_STARTED', 'PENDING', 'INVALID', 'VERIFYING', 'FAILED', 'VERIFIED'] as const
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]
