import { z } from 'zod'

const maximums = new WeakMap<z.core.$ZodType, number>()

/**
 * A JSON object of at most `most` members of any name, each unchanged: `z.record` would drop `__proto__` silently.
 * `validateBody` refuses one with more members before anything looks at them.
 */
export function jsonMap(most: number) {
  const schema = z.unknown().transform((given, context): Readonly<Record<string, unknown>> => {
    if (isObject(given)) return given
    context.addIssue({ code: 'invalid_type', expected: 'object', input: given })
    return z.NEVER
  })
  maximums.set(schema, most)
  return schema
}

/** The maximum of a schema created by `jsonMap`; undefined for any other. */
export function mostMembersOf(schema: z.core.$ZodType): number | undefined {
  return maximums.get(schema)
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The name of every object's prototype; a document with this key could change how later readers see it. */
export const PROTOTYPE = '__proto__'
