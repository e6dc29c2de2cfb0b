import type { z } from 'zod'
import type { FieldError } from '../vocabulary/errors.ts'
import { issueMessage, withoutEchoes } from './issues.ts'
import { readDocument } from './read-document.ts'
import { structureOf } from './structure.ts'

/**
 * A 400 names at most this many fields; a request with more has a systematic error that the first ones show. Everything
 * that lists problems stops here, so that a response is small whatever was sent.
 */
export const MOST_PROBLEMS = 99

export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly errors: readonly FieldError[] }

/**
 * Validates received input against a schema of this package. The errors are ready for the envelope: paths in wire
 * names, relative to the checked value, and a message that says what is allowed (identity 1.5).
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown): Validated<z.output<S>> {
  const result = schema.safeParse(input, { error: issueMessage })
  if (result.success) return { ok: true, value: result.data }
  return { ok: false, errors: withoutEchoes(result.error.issues).slice(0, MOST_PROBLEMS).map(fieldErrorOf) }
}

/**
 * Checks a JSON document. Lists and maps with too many elements are rejected before a schema reads them, so that the
 * cost is bounded by the schema and not by the input. `null` for an optional member is the same as omitting it, unless
 * the schema gives it a meaning (identity 1.2).
 */
export function validateBody<S extends z.ZodType>(schema: S, input: unknown): Validated<z.output<S>> {
  const { value, tooMany } = readDocument(structureOf(schema), input)
  if (tooMany.length > 0) return { ok: false, errors: tooMany.slice(0, MOST_PROBLEMS) }
  return validate(schema, value)
}

function fieldErrorOf(issue: z.core.$ZodIssue): FieldError {
  return {
    path: issue.path.map((segment) => (typeof segment === 'symbol' ? String(segment) : segment)),
    message: issue.message,
  }
}
