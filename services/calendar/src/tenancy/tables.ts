/**
 * Tables with rows of single inboxes, apart from `events`. Each has the columns `inbox_uid` and `organization_id`, with an
 * index. What is added here is purged with its inbox and its organization.
 */
export const INBOX_TABLES = [
  'calendars',
  'edits',
  'begun_dates',
  'cancelled_dates',
  'date_responses',
  'create_keys',
  'deletions',
  'outgoing_mails',
  'invited',
  'feeds',
] as const

/** Tables with rows of an organization beyond those of its inboxes. */
export const ORGANIZATION_TABLES = [...INBOX_TABLES, 'calendar_access', 'take_overs'] as const
