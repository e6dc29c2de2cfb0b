import type { z } from 'zod'
import type { InternalOperationDefinition } from '../definition/operation.ts'
import type { ServiceName } from '../vocabulary/services.ts'
import { appsSigninInternalOperations } from './apps/apps-signin.ts'
import { signInKeyOperations } from './apps/sign-in-keys.ts'
import { checkOperations } from './checks.ts'
import { certificateOperations } from './domains/certificates.ts'
import { domainSetupOperations } from './domains/domain-setup.ts'
import { domainsInternalOperations } from './domains/domains.ts'
import { domainsOperatorOperations } from './domains/domains-operator.ts'
import { gatewayInternalOperations } from './gateway.ts'
import { mailIngestInternalOperations } from './mail-ingest.ts'
import { mailSendInternalOperations } from './mail-send.ts'
import { toolInternalOperations } from './mcp.ts'
import { deliveryQueueOperations } from './operator/delivery-queue.ts'
import { metricsInternalOperations } from './operator/metrics.ts'
import { webhookLogOperations } from './operator/webhook-log.ts'
import { websocketFanoutInternalOperations } from './stream.ts'
import { listInboxesOperations } from './tenancy/inboxes.ts'
import { purgeOperations } from './tenancy/purge.ts'
import { takeOverOperations } from './tenancy/take-over.ts'

/** Every synchronous call between services. There are few: only those whose caller needs the result at once. */
export const internalOperations = {
  ...gatewayInternalOperations,
  ...mailIngestInternalOperations,
  ...mailSendInternalOperations,
  ...deliveryQueueOperations,
  ...domainsInternalOperations,
  ...certificateOperations,
  ...domainSetupOperations,
  ...domainsOperatorOperations,
  ...websocketFanoutInternalOperations,
  ...purgeOperations,
  ...takeOverOperations,
  ...webhookLogOperations,
  ...checkOperations,
  ...listInboxesOperations,
  ...appsSigninInternalOperations,
  ...signInKeyOperations,
  ...metricsInternalOperations,
  ...toolInternalOperations,
} as const satisfies Record<string, InternalOperationDefinition>

export type InternalOperationId = keyof typeof internalOperations
export type InternalOperation<Id extends InternalOperationId> = (typeof internalOperations)[Id]

/** Internal operations that one service owns, and so must handle. */
export type InternalOperationIdsOf<S extends ServiceName> = {
  [Id in InternalOperationId]: InternalOperation<Id> extends { readonly service: S } ? Id : never
}[InternalOperationId]

/** The request, the same for caller and handler. */
export type InternalRequestOf<Id extends InternalOperationId> = z.output<InternalOperation<Id>['body']>

/** The response, the same for handler and caller. */
export type InternalResponseOf<Id extends InternalOperationId> = z.output<InternalOperation<Id>['response']>

/** Internal operations of one service. */
export function internalOperationsOf(service: ServiceName): readonly InternalOperationDefinition[] {
  return Object.values<InternalOperationDefinition>(internalOperations).filter(
    (operation) => operation.service === service,
  )
}

const responses: { readonly [Id in InternalOperationId]: { readonly response: z.ZodType<InternalResponseOf<Id>> } } =
  internalOperations

/** Validates the response of a peer. @throws ZodError when it does not match the operation. */
export function parseInternalResponse<Id extends InternalOperationId>(
  id: Id,
  document: unknown,
): InternalResponseOf<Id> {
  return responses[id].response.parse(document)
}
