/** States of a registered domain (domains 7.1). */
export const DOMAIN_STATUSES = ['NOT_STARTED', 'PENDING', 'INVALID', 'VERIFYING', 'FAILED', 'VERIFIED'] as const
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]

/** Why a domain is not verified (interface document): the first two are about its DNS records. */
export const DOMAIN_REASONS = [
  'dns_records_missing',
  'dns_records_invalid',
  'infra_dkim_not_started',
  'infra_dkim_pending',
  'infra_dkim_temporary_failure',
  'infra_dkim_failed',
  'infra_mail_from_not_started',
  'infra_mail_from_pending',
  'infra_mail_from_temporary_failure',
  'infra_mail_from_failed',
  'infra_not_verified_for_sending',
] as const
export type DomainReason = (typeof DOMAIN_REASONS)[number]

/** Types of the DNS records of a domain. */
export const RECORD_TYPES = ['TXT', 'CNAME', 'MX'] as const
export type RecordType = (typeof RECORD_TYPES)[number]

/** What the latest check found of a DNS record (domains 3.1). */
export const RECORD_STATUSES = ['MISSING', 'INVALID', 'VALID'] as const
export type RecordStatus = (typeof RECORD_STATUSES)[number]

/** Why a record is `INVALID`. */
export const RECORD_REASONS = ['duplicate_records', 'value_mismatch'] as const
export type RecordReason = (typeof RECORD_REASONS)[number]

/** Label below a custom domain of the host that serves the images that tell of opening (domains 3). */
export const TRACKING_LABEL = 'link'
