/**
 * Tables with rows of single inboxes. Each has the columns `inbox_uid` and `organization_id`, with an index. What is added
 * here is purged with its inbox and its organization.
 */
export const INBOX_TABLES = [
  'tickets',
  'connect_replays',
  'transactions',
  'enrollments',
  'consents',
  'owner_approvals',
  'codes',
  'access_tokens',
  'accounts',
] as const

/**
 * Tables with rows of an organization beyond those of its inboxes. That an inbox has
 * signed up, and that its owner was mailed, is counted beyond its deletion.
 */
export const ORGANIZATION_TABLES = [...INBOX_TABLES, 'sign_ups', 'sign_up_limits', 'owner_mails'] as const
