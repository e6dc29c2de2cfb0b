import { LIMITS } from '../vocabulary/limits.ts'
import { line, stringList } from './text.ts'

/** Message ids of a batch request: between one and `max`, each once (mail 6.4, 7). */
export function messageIds(max: number) {
  return stringList(line({ min: 1, max: LIMITS.message.id }), max).superRefine((ids, context) => {
    if (ids.length === 0) context.addIssue({ code: 'custom', message: 'Give at least one id' })
    const known = new Set<string>()
    for (const [index, id] of ids.entries()) {
      if (known.has(id)) context.addIssue({ code: 'custom', path: [index], message: 'This id is given twice' })
      known.add(id)
    }
  })
}
