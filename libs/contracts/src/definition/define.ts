import { z } from 'zod'
import { LIMITS } from '../vocabulary/limits.ts'
import type { OperationDefinition } from './operation.ts'
import { BINARY } from './operation.ts'

/** Checks one definition and keeps its literal types, so that ids, services and schemas are known to the compiler. */
export function define<const D extends OperationDefinition>(definition: D): D {
  return definition
}

/** A group of operations whose keys are their ids. */
export function group<const G extends { readonly [Id in keyof G]: OperationDefinition & { readonly id: Id } }>(
  operations: G,
): G {
  return operations
}

export const NOTHING = z.object({})

/** Defaults of most operations: an authenticated JSON request without members, answered with 200. Spread first. */
export const BASE = {
  authentication: 'key',
  params: NOTHING,
  query: NOTHING,
  body: undefined,
  status: 200,
  idempotencyKey: false,
  bodyLimit: { bytes: LIMITS.request.body, answer: 'payload_too_large' },
} as const

/** A body that carries mail: larger, and refused in the form of the infrastructure (identity 1.10). */
export const MAIL_BODY = { bytes: LIMITS.request.mailBody, answer: 'infrastructure' } as const

/** Answer of a delete and of every other void operation: 204 with an empty body (identity 1.7). */
export const VOID = { status: 204, response: undefined } as const

/** Answer with bytes. */
export const BYTES = { response: BINARY } as const

/** A path value that names something by id or alias; the resource decides which. */
export const idParam = z.string().min(1)
