import type { z } from 'zod'
import { type BINARY, type OperationDefinition, PREFIX, type Replayed, type UPGRADE } from '../definition/operation.ts'
import { ERRORS, type ErrorCode } from '../vocabulary/errors.ts'
import type { ServiceName } from '../vocabulary/services.ts'
import type { Tier } from '../vocabulary/tiers.ts'
import { accountOperations } from './apps/accounts.ts'
import { appOperations, providerOperations } from './apps/apps.ts'
import { calendarOperations } from './calendar/calendars.ts'
import { calendarEventOperations } from './calendar/events.ts'
import { domainOperations } from './domains/domains.ts'
import { streamOperations } from './events/stream.ts'
import { webhookOperations } from './events/webhooks.ts'
import { agentOperations } from './identity/agent.ts'
import { apiKeyOperations } from './identity/api-keys.ts'
import { identityOperations } from './identity/identity.ts'
import { inboxOperations } from './identity/inboxes.ts'
import { podOperations } from './identity/pods.ts'
import { publicKeyOperations } from './identity/public-keys.ts'
import { draftOperations } from './mail/drafts.ts'
import { listOperations } from './mail/lists.ts'
import { messageOperations } from './mail/messages.ts'
import { sendingOperations } from './mail/sending.ts'
import { threadOperations } from './mail/threads.ts'
import { metricOperations } from './metrics/metrics.ts'

/** Every operation of the public API by its id: the source of routes, checks, handler types and documents. */
export const operations = {
  ...agentOperations,
  ...identityOperations,
  ...apiKeyOperations,
  ...publicKeyOperations,
  ...podOperations,
  ...inboxOperations,
  ...threadOperations,
  ...messageOperations,
  ...sendingOperations,
  ...draftOperations,
  ...listOperations,
  ...domainOperations,
  ...appOperations,
  ...accountOperations,
  ...providerOperations,
  ...calendarOperations,
  ...calendarEventOperations,
  ...webhookOperations,
  ...streamOperations,
  ...metricOperations,
} as const satisfies Record<string, OperationDefinition>

export type OperationId = keyof typeof operations
export type Operation<Id extends OperationId> = (typeof operations)[Id]

/** Operations that one service owns. */
export type OperationIdsOf<S extends ServiceName> = {
  [Id in OperationId]: Operation<Id>['service'] extends S ? Id : never
}[OperationId]

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined

/** A request after validation. */
export interface RequestOf<Id extends OperationId> {
  readonly params: Parsed<Operation<Id>['params']>
  readonly query: Parsed<Operation<Id>['query']>
  readonly body: Parsed<Operation<Id>['body']>
}

/** A response in bytes: headers by lower-case name, and the bytes in order. */
export interface BinaryResponse {
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

type Answer<R> = R extends z.ZodType ? z.input<R> : R extends typeof BINARY ? BinaryResponse : undefined

/** The result of a handler: the response document, bytes, or nothing (204, 101); of a create also what it replays. */
export type ResponseOf<Id extends OperationId> = Operation<Id>['status'] extends 201
  ? Answer<Operation<Id>['response']> | Replayed<Answer<Operation<Id>['response']>>
  : Answer<Operation<Id>['response']>

/** Operations whose success is a switch of protocol; they have no ordinary handler. */
export type UpgradeOperationId = {
  [Id in OperationId]: Operation<Id>['response'] extends typeof UPGRADE ? Id : never
}[OperationId]

/** All that a provisional sign-up key may call (identity 5.1). */
export const PROVISIONAL_OPERATIONS: readonly OperationId[] = ['auth.me', 'agent.verify']

export const OPERATION_IDS = Object.keys(operations).filter(isOperationId)

export function isOperationId(id: string): id is OperationId {
  return Object.hasOwn(operations, id)
}

/** Operations of one service, in the order of the table. */
export function operationsOf(service: ServiceName): readonly OperationDefinition[] {
  return Object.values<OperationDefinition>(operations).filter((operation) => operation.service === service)
}

/** Full path templates of an operation, one per prefix that offers it. */
export function pathsOf(operation: OperationDefinition): { readonly tier: Tier; readonly path: string }[] {
  return operation.prefixes.map((tier) => ({ tier, path: `${PREFIX[tier]}${operation.path}` }))
}

/** Names of the parameters in a path template. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '')
}

/**
 * Error codes of an operation, by status and in the order of the table: those that follow from its shape, and its own.
 */
export function errorCodesOf(operation: OperationDefinition): ErrorCode[] {
  const possible = new Set<ErrorCode>([...shapeErrors(operation), ...(operation.errors ?? [])])
  return errorCodes.filter((code) => possible.has(code))
}

const errorCodes = Object.keys(ERRORS).filter(isErrorCode)

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(ERRORS, name)
}

/** Parameters of paths whose value can be wrong in its form; of others it can only be unknown. */
const WITH_FORM: ReadonlySet<string> = new Set(['thread_id', 'direction', 'type'])

function shapeErrors(operation: OperationDefinition): ErrorCode[] {
  const takesInput = operation.body !== undefined || Object.keys(operation.query.shape).length > 0
  const hasForm = Object.keys(operation.params.shape).some((name) => WITH_FORM.has(name))
  const named =
    Object.keys(operation.params.shape).length > 0 || operation.prefixes.some((tier) => tier !== 'organization')
  return [
    ...(takesInput || hasForm ? ['validation_error' as const] : []),
    ...(operation.authentication === 'key' ? KEY_ERRORS : []),
    ...(operation.authentication === 'key' && operation.permission !== 'any' ? ['missing_permission' as const] : []),
    ...(operation.authentication === 'key' && operation.prefixes.includes('pod') ? ['forbidden' as const] : []),
    ...(named ? ['not_found' as const] : []),
    ...(operation.body !== undefined && operation.bodyLimit.answer === 'payload_too_large'
      ? ['payload_too_large' as const]
      : []),
    'rate_limit_exceeded',
    'internal_error',
    'service_unavailable',
  ]
}

const KEY_ERRORS = [
  'missing_authorization',
  'invalid_token_type',
  'unknown_api_key',
  'api_key_expired',
  'unauthorized',
] as const satisfies readonly ErrorCode[]
