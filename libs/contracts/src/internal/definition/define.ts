import { NOTHING } from '../../definition/define.ts'
import type { InternalOperationDefinition } from '../../definition/operation.ts'
import { LIMITS } from '../../vocabulary/limits.ts'

/**
 * Checks one internal operation and keeps its literal types. Its schemas are plain JSON without transforms, so that
 * the handler gets exactly what the caller passes.
 */
export function defineInternal<const D extends InternalOperationDefinition>(definition: D): D {
  return definition
}

/** A group of internal operations whose keys are their ids. */
export function internalGroup<
  const G extends { readonly [Id in keyof G]: InternalOperationDefinition & { readonly id: Id } },
>(operations: G): G {
  return operations
}

/** Defaults of every call between services. Spread first. */
export const INTERNAL = {
  method: 'POST',
  params: NOTHING,
  query: NOTHING,
  status: 200,
  idempotencyKey: false,
  bodyLimit: { bytes: LIMITS.request.body, answer: 'payload_too_large' },
} as const
