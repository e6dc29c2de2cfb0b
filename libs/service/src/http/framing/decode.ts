import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BodyBound, bodyBound, type Validated } from '@restante/contracts/validation'
import type { FieldError } from '@restante/contracts/vocabulary'
import type { z } from 'zod'
import { ApiError } from '../../errors/api-error.ts'
import { excessOf } from './json-parts.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Above this size the steps of reading a body run in separate turns of the event loop: each takes milliseconds. */
const LARGE = 128 * 1024

/**
 * Parses a body into the JSON object that an operation's schema validates. An absent body is `{}`, and the schema
 * decides whether that is enough. A body with more structure than the schema can accept is refused before it is parsed.
 * @throws ApiError 400
 */
export async function readJsonObject(bytes: Buffer, schema: z.ZodType): Promise<Record<string, unknown>> {
  if (bytes.length === 0) return {}
  await requireWithin(bytes, bodyBound(schema))
  if (bytes.length <= LARGE) return parseJsonObject(bytes)
  await nextTurn()
  const document = parseJsonObject(bytes)
  await nextTurn()
  return document
}

async function requireWithin(bytes: Buffer, bound: BodyBound): Promise<void> {
  const excess = await excessOf(bytes, bound)
  if (excess === undefined) return
  const message =
    excess === 'parts'
      ? `The body must have at most ${bound.parts} members and list elements together`
      : `The body must be nested at most ${bound.depth} levels deep`
  throw new ApiError('validation_error', { message, errors: [{ path: [], message }] })
}

function parseJsonObject(bytes: Buffer): Record<string, unknown> {
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

/**
 * The value of a part that was validated; its problems are added to the others, so that a caller sees all of them at
 * once.
 */
export function accepted<T>(checked: Validated<T>, problems: FieldError[]): T | undefined {
  if (checked.ok) return checked.value
  problems.push(...checked.errors)
  return undefined
}
