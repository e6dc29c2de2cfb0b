/** Written by the service alone; a caller that names one is refused (mail 4.2). */
export const PROTECTED_LABELS = [
  'received',
  'sent',
  'bounced',
  'complained',
  'delayed',
  'delivered',
  'rejected',
  'opened',
  'scheduled',
] as const

/** Hidden unless permission and, in lists, an include flag show them (mail 4.4). In the order of event headers. */
export const RESTRICTED_LABELS = ['spam', 'blocked', 'unauthenticated', 'trash'] as const
export type RestrictedLabel = (typeof RESTRICTED_LABELS)[number]

/** The restricted ones among an item's labels, in the order of event headers. */
export function restrictedAmong(labels: readonly string[]): RestrictedLabel[] {
  return RESTRICTED_LABELS.filter((label) => labels.includes(label))
}

/** On every inbound message; callers may take it away and put it back. */
export const UNREAD_LABEL = 'unread'
/** Always on a draft and never on a message: ignored wherever a caller names it. */
export const DRAFT_LABEL = 'draft'

/** Labels with a meaning for the service. All others are custom. */
export const SYSTEM_LABELS: readonly string[] = [...PROTECTED_LABELS, ...RESTRICTED_LABELS, UNREAD_LABEL, DRAFT_LABEL]

/** A label as it is stored and compared (mail 4.3). */
export function normalizeLabel(label: string): string {
  return label.trim().toLowerCase()
}
