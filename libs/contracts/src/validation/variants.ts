import { z } from 'zod'
import { issueMessage, withoutEchoes } from './issues.ts'
import { isObject } from './json-object.ts'

/** Two objects of which the presence of a member selects one. */
export interface Variants {
  readonly member: string
  readonly present: z.ZodObject
  readonly absent: z.ZodObject
}

const registry = new WeakMap<z.core.$ZodType, Variants>()

/**
 * Chooses one of two object schemas by whether `member` is present, whatever its value. Only the chosen schema is
 * applied, so that errors are about the intended variant. The result has the member only if it was sent.
 */
export function byPresence<P extends z.ZodObject, A extends z.ZodObject>(member: string, present: P, absent: A) {
  const schema = z.unknown().transform((given, context): z.output<P> | z.output<A> => {
    const meant = isObject(given) && Object.hasOwn(given, member) ? present : absent
    const result = meant.safeParse(given, { error: issueMessage })
    if (result.success) return result.data
    for (const { path, message } of withoutEchoes(result.error.issues)) {
      context.addIssue({ code: 'custom', path, message })
    }
    return z.NEVER
  })
  registry.set(schema, { member, present, absent })
  return schema
}

/** The variants of a schema created by `byPresence`. */
export function variantsOf(schema: z.core.$ZodType): Variants | undefined {
  return registry.get(schema)
}
