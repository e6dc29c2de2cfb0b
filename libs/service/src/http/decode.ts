import { type FieldError, validate } from '@restante/contracts'
import type { z } from 'zod'
import { ApiError } from './api-error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** A JSON object out of a body; an absent body is `{}` and the schema decides whether that is enough. */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (bytes.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch (cause) {
    throw syntaxError('The body is not valid JSON in UTF-8', cause)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw syntaxError('The body must be a JSON object')
}

function syntaxError(message: string, cause?: unknown): ApiError {
  return new ApiError('validation_error', { name: 'SyntaxError', message, errors: [{ path: [], message }], cause })
}

/** Checks one part of a request; its problems are added to the others, so that a caller sees all of them at once. */
export function check<S extends z.ZodType>(schema: S, value: unknown, problems: FieldError[]): z.output<S> | undefined {
  const result = validate(schema, value)
  if (result.ok) return result.value
  problems.push(...result.errors)
  return undefined
}
