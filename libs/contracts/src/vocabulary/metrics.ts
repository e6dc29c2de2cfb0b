/** Event types that are counted (identity 9.1). */
export const COUNTED_EVENT_TYPES = [
  'message.received',
  'message.received.spam',
  'message.received.blocked',
  'message.received.unauthenticated',
  'message.sent',
  'message.delivered',
  'message.bounced',
  'message.complained',
  'message.rejected',
  'domain.verified',
] as const
export type CountedEventType = (typeof COUNTED_EVENT_TYPES)[number]

/** What of a scope is measured as a running total, by the narrowest tier that has it (identity 9.2). */
export const USAGE_TYPES = {
  inbox: ['storage_bytes', 'message_count', 'thread_count'],
  pod: ['storage_bytes', 'message_count', 'thread_count', 'inbox_count', 'domain_count'],
  organization: ['storage_bytes', 'message_count', 'thread_count', 'inbox_count', 'domain_count', 'pod_count'],
} as const
export type UsageType = (typeof USAGE_TYPES)['organization'][number]

/** Shares of sent mail (identity 9.3). */
export const RATE_TYPES = ['bounce', 'complaint'] as const
export type RateType = (typeof RATE_TYPES)[number]
