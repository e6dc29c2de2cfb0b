import { z } from 'zod'
import { LIMITS } from '../limits.ts'
import { queryList } from './query.ts'
import { isSingleLine, stringList } from './text.ts'
import { onWire } from './wire.ts'

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

/** Labels that mean something to the service. Every other one is custom. */
export const SYSTEM_LABELS: readonly string[] = [...PROTECTED_LABELS, ...RESTRICTED_LABELS, UNREAD_LABEL, DRAFT_LABEL]

const protectedLabels: ReadonlySet<string> = new Set(PROTECTED_LABELS)

/** A label as it is stored and compared (mail 4.3). */
export function normalizeLabel(label: string): string {
  return label.trim().toLowerCase()
}

const label = z
  .string()
  .trim()
  .max(LIMITS.labels.length, { abort: true })
  .overwrite(normalizeLabel)
  .min(1, { error: 'A label must not be empty' })
  // Folding can lengthen a text.
  .max(LIMITS.labels.length, { abort: true })
  .refine(isSingleLine, { error: 'Must not contain line breaks or other control characters' })
  .refine((text) => !protectedLabels.has(text), { error: ({ input }) => `Cannot use system label: ${String(input)}` })

/** Labels that a caller sets: one or several, each once, in the given order. */
export const labels = onWire(
  stringList(label, LIMITS.labels.perResource).transform((given) => [
    ...new Set(given.filter((name) => name !== DRAFT_LABEL)),
  ]),
  {
    anyOf: [{ type: 'string' }, { type: 'array', maxItems: LIMITS.labels.perResource, items: { type: 'string' } }],
    description: 'One label or several.',
  },
)

/** Labels of a filter: the same folding as on write; system labels may be asked for. */
export const labelFilter = onWire(
  queryList.transform((given) => [...new Set(given.map(normalizeLabel))]),
  { type: 'array', items: { type: 'string' }, description: 'Only items that carry all of these labels.' },
)

/** Body of a label change: something to add or to remove; what is in both ends up removed. */
export const labelChange = z
  .object({ add_labels: labels.optional(), remove_labels: labels.optional() })
  .refine((body) => (body.add_labels?.length ?? 0) + (body.remove_labels?.length ?? 0) > 0, {
    path: ['add_labels'],
    error: 'Give at least one label in add_labels or remove_labels',
  })
