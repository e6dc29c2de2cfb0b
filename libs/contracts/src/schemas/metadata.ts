import { z } from 'zod'
import { tooManyMessage } from '../validation/issues.ts'
import { jsonMap, PROTOTYPE } from '../validation/json-object.ts'
import { onWire } from '../validation/wire.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { prose } from './text.ts'

export type MetadataValue = string | number | boolean

const MESSAGE = 'Must be a string, a number or true or false'
const value = z.union([prose().max(LIMITS.inbox.metadataValue), z.number(), z.boolean()])
/** A change can set as many keys as an inbox may have while it removes as many others. */
const CHANGED_KEYS = 2 * LIMITS.inbox.metadataKeys
const key = prose().min(1).max(LIMITS.inbox.metadataKey)

/** Metadata of a new inbox: flat, without nulls; `{}` is none (identity 8.4). */
export const metadata = onWire(
  jsonMap(LIMITS.inbox.metadataKeys).transform((given, context): Record<string, MetadataValue> => {
    const accepted: Record<string, MetadataValue> = {}
    for (const [name, candidate] of entries(given, context)) {
      const parsed = value.safeParse(candidate)
      if (parsed.success) accepted[name] = parsed.data
      else context.addIssue({ code: 'custom', path: [name], message: valueMessage(candidate) })
    }
    return accepted
  }),
  {
    type: 'object',
    maxProperties: LIMITS.inbox.metadataKeys,
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  },
)

/**
 * Changes to the metadata of an inbox: `null` removes a key; the empty object changes nothing and is rejected (identity
 * 8.5).
 */
export const metadataChange = onWire(
  jsonMap(CHANGED_KEYS).transform((given, context): Record<string, MetadataValue | null> => {
    const accepted: Record<string, MetadataValue | null> = {}
    if (Object.keys(given).length === 0) context.addIssue({ code: 'custom', message: 'Must have at least one key' })
    for (const [name, candidate] of entries(given, context)) {
      const parsed = value.nullable().safeParse(candidate)
      if (parsed.success) accepted[name] = parsed.data
      else context.addIssue({ code: 'custom', path: [name], message: valueMessage(candidate) })
    }
    return accepted
  }),
  {
    type: 'object',
    maxProperties: CHANGED_KEYS,
    additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
  },
)

function entries(given: Readonly<Record<string, unknown>>, context: z.RefinementCtx): [string, unknown][] {
  const all = Object.entries(given)
  // Removed keys do not count here; the result of an update is counted where it is merged.
  if (all.filter(([, value]) => value !== null).length > LIMITS.inbox.metadataKeys) {
    context.addIssue({ code: 'custom', message: tooManyMessage('map', LIMITS.inbox.metadataKeys) })
    return []
  }
  return all.filter(([name]) => {
    const problem = keyProblem(name)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem })
    return problem === undefined
  })
}

function keyProblem(name: string): string | undefined {
  if (name === PROTOTYPE) return 'This key cannot be used'
  return key.safeParse(name).success ? undefined : 'Keys must be 1 to 256 characters'
}

function valueMessage(candidate: unknown): string {
  return typeof candidate === 'string'
    ? `Must be at most ${LIMITS.inbox.metadataValue} characters, without NUL`
    : MESSAGE
}
