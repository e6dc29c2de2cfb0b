import { z } from 'zod'
import { onWire } from '../validation/wire.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { DRAFT_LABEL, normalizeLabel, PROTECTED_LABELS } from '../vocabulary/mail/labels.ts'
import { queryListWithoutCommas } from './query.ts'
import { isSingleLine, stringList } from './text.ts'

const protectedLabels: ReadonlySet<string> = new Set(PROTECTED_LABELS)

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

/**
 * Labels of a filter: folded as on write; system labels are allowed. A label with a comma needs the JSON spelling (mail 1
 * rule 1).
 */
export const labelFilter = onWire(
  queryListWithoutCommas.transform((given) => [...new Set(given.map(normalizeLabel))]),
  { type: 'array', items: { type: 'string' }, description: 'Only items that carry all of these labels.' },
)

/** Members of a label change. A label in both lists is removed. */
export const labelChangeMembers = { add_labels: labels.optional(), remove_labels: labels.optional() }

/** Requires at least one label to add or remove. */
export function requireLabels(
  body: { add_labels?: readonly string[] | undefined; remove_labels?: readonly string[] | undefined },
  context: z.RefinementCtx,
): void {
  if ((body.add_labels?.length ?? 0) + (body.remove_labels?.length ?? 0) > 0) return
  const message = 'Give at least one label in add_labels or remove_labels'
  context.addIssue({ code: 'custom', path: ['add_labels'], message })
}

/** Body of a label change. */
export const labelChange = z.object(labelChangeMembers).superRefine(requireLabels)
