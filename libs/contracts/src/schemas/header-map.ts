import { jsonMap, PROTOTYPE } from '../validation/json-object.ts'
import { onWire } from '../validation/wire.ts'
import { isSingleLine } from './text.ts'

interface HeaderRules {
  readonly name: RegExp
  readonly nameLength: number
  readonly min: number
  readonly max: number
  /** Further rule for a value, which is always one line. Undefined: any text, which a mail encodes. */
  readonly value?: RegExp
  /** Names and values together, in bytes. */
  readonly bytes: number
  /** Why a name may not be set; undefined: it may. */
  readonly refuse?: (name: string) => string | undefined
}

/** A map of header names to values. Names compare without case; anything but a string value is refused (mail 8.2). */
export function headerMap(rules: HeaderRules) {
  return onWire(
    jsonMap(rules.max).transform((given, context): Record<string, string> => {
      const accepted = new Map<string, string>()
      const seen = new Set<string>()
      for (const [name, value] of Object.entries(given)) {
        const problem = problemOf(name, value, rules, seen)
        if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem })
        else if (typeof value === 'string') accepted.set(name, value)
        seen.add(name.toLowerCase())
      }
      const total = sizeProblem(seen.size, accepted, rules)
      if (total !== undefined) context.addIssue({ code: 'custom', message: total })
      return Object.fromEntries(accepted)
    }),
    { type: 'object', maxProperties: rules.max, additionalProperties: { type: 'string' } },
  )
}

function problemOf(name: string, value: unknown, rules: HeaderRules, seen: ReadonlySet<string>): string | undefined {
  if (name.length > rules.nameLength || !rules.name.test(name) || name === PROTOTYPE) return 'Not a valid header name'
  if (seen.has(name.toLowerCase())) return 'Given twice; header names compare without case'
  const refusal = rules.refuse?.(name)
  if (refusal !== undefined) return refusal
  if (typeof value !== 'string') return 'Must be a string'
  if (!isSingleLine(value)) return 'Must not contain line breaks or other control characters'
  if (rules.value && !rules.value.test(value)) return 'Not a valid header value'
  return undefined
}

function sizeProblem(names: number, headers: ReadonlyMap<string, string>, rules: HeaderRules): string | undefined {
  if (names < rules.min) return `Must have at least ${rules.min} entry`
  const bytes = [...headers].reduce((sum, [name, value]) => sum + name.length + utf8.encode(value).length, 0)
  return bytes > rules.bytes ? `Must be at most ${rules.bytes} bytes together` : undefined
}

const utf8 = new TextEncoder()
