import type { z } from 'zod'
import type { InternalOperationDefinition } from '../definition/operation.ts'
import type { ServiceName } from '../vocabulary/services.ts'
import { gatewayInternalOperations } from './gateway.ts'
import { mailIngestInternalOperations, mailSendInternalOperations } from './mail.ts'
import { purgeOperations } from './purge.ts'
import { websocketFanoutInternalOperations } from './stream.ts'
import { takeOverOperations } from './take-over.ts'

/** Every synchronous call between services; there are few, each where a caller needs the answer now. */
export const internalOperations = {
  ...gatewayInternalOperations,
  ...mailIngestInternalOperations,
  ...mailSendInternalOperations,
  ...websocketFanoutInternalOperations,
  ...purgeOperations,
  ...takeOverOperations,
} as const satisfies Record<string, InternalOperationDefinition>

export type InternalOperationId = keyof typeof internalOperations
export type InternalOperation<Id extends InternalOperationId> = (typeof internalOperations)[Id]

/** Internal operations that one service owns, and so must handle. */
export type InternalOperationIdsOf<S extends ServiceName> = {
  [Id in InternalOperationId]: InternalOperation<Id> extends { readonly service: S } ? Id : never
}[InternalOperationId]

/** What the caller passes and the handler gets. */
export type InternalRequestOf<Id extends InternalOperationId> = z.output<InternalOperation<Id>['body']>

/** What the handler returns and the caller gets. */
export type InternalResponseOf<Id extends InternalOperationId> = z.output<InternalOperation<Id>['response']>

/** Internal operations of one service. */
export function internalOperationsOf(service: ServiceName): readonly InternalOperationDefinition[] {
  return Object.values<InternalOperationDefinition>(internalOperations).filter(
    (operation) => operation.service === service,
  )
}

const responses: { readonly [Id in InternalOperationId]: { readonly response: z.ZodType<InternalResponseOf<Id>> } } =
  internalOperations

/** Checks what a peer answered. @throws ZodError when it is not what the operation promises. */
export function parseInternalResponse<Id extends InternalOperationId>(
  id: Id,
  document: unknown,
): InternalResponseOf<Id> {
  return responses[id].response.parse(document)
}
