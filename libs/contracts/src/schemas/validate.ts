import { z } from 'zod'
import type { FieldError } from '../errors.ts'

/** A 400 names at most this many fields; a request with more has a systematic fault that the first ones show. */
const REPORTED = 100

export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly FieldError[] }

/**
 * Checks what came over the wire against a schema of this package. The errors are ready for the envelope: paths in wire
 * names, relative to the checked value, and a message that says what would be right (identity 1.5).
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown): Validated<z.output<S>> {
  const result = schema.safeParse(input, { error: issueMessage })
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, errors: withoutEchoes(result.error.issues).slice(0, REPORTED).map(fieldErrorOf) }
}

/**
 * One of two objects, as a member is there or not: what is wrong is told of the one that was meant. The result has the
 * member exactly where it was sent.
 */
export function byPresence<P extends z.ZodObject, A extends z.ZodObject>(member: string, present: P, absent: A) {
  return z.preprocess(
    (given, context) => {
      const meant = typeof given === 'object' && given !== null && Object.hasOwn(given, member) ? present : absent
      const { error } = meant.safeParse(given, { error: issueMessage })
      for (const { path, message } of withoutEchoes(error?.issues ?? [])) {
        context.addIssue({ code: 'custom', path, message })
      }
      return given
    },
    z.union([present, absent]),
  )
}

/** A value of the wrong type is told once: zod goes on to measure whatever has a length. */
function withoutEchoes(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const mistyped = new Set(issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => path.join('\0')))
  return issues.filter(({ code, path }) => code === 'invalid_type' || !mistyped.has(path.join('\0')))
}

function fieldErrorOf(issue: z.core.$ZodIssue): FieldError {
  return {
    path: issue.path.map((segment) => (typeof segment === 'symbol' ? String(segment) : segment)),
    message: issue.message,
  }
}

function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeMessage(issue.expected, issue.input)
    case 'too_small':
      return `Must ${verb(issue.origin)} at least ${issue.minimum}${unit(issue.origin, issue.minimum)}`
    case 'too_big':
      return `Must ${verb(issue.origin)} at most ${issue.maximum}${unit(issue.origin, issue.maximum)}`
    case 'invalid_value':
      return issue.input === undefined ? 'Required' : `Must be one of: ${issue.values.join(', ')}`
    default:
      return undefined
  }
}

function typeMessage(expected: string, input: unknown): string {
  if (input === undefined) return 'Required'
  if (input === null) return 'Must not be null'
  const kind = expected === 'record' ? 'object' : expected
  return `Must be ${/^[aio]/.test(kind) ? 'an' : 'a'} ${kind}`
}

function verb(origin: string): string {
  return origin === 'array' ? 'have' : 'be'
}

function unit(origin: string, amount: number | bigint): string {
  const one = BigInt(Math.trunc(Number(amount))) === 1n
  if (origin === 'string') return one ? ' character' : ' characters'
  if (origin === 'array') return one ? ' item' : ' items'
  return ''
}
