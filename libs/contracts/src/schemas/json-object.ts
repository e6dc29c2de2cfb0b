import { z } from 'zod'

/** A JSON object with each of its members as it came: `z.record` would leave out `__proto__` without a word. */
export const jsonObject = z.unknown().transform((given, context): Readonly<Record<string, unknown>> => {
  if (isObject(given)) return given
  context.addIssue({ code: 'invalid_type', expected: 'object', input: given })
  return z.NEVER
})

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The name by which every object's prototype is reached: whoever reads the document later could be led by it. */
export const PROTOTYPE = '__proto__'
