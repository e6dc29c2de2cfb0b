import { internalOperationsOf } from '@restante/contracts/internal'
import {
  type InternalOperationDefinition,
  type OperationDefinition,
  operationsOf,
  UPGRADE,
} from '@restante/contracts/operations'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { ApiError } from '../../errors/api-error.ts'
import { CALLER_HEADER, InvalidTokenError, SERVICE_HEADER, verifyCaller, verifyService } from '../../identity/tokens.ts'
import type { Exchange } from '../listener/exchange.ts'
import { AdmittedCaller, type ConfirmCaller } from './admitted-caller.ts'
import { type AnyHandler, answer, type Handlers, type InternalHandlers } from './operations.ts'
import { Router } from './router.ts'

/** What a service needs to verify tokens, and to confirm that a caller's rights still hold. */
interface TokenKeys {
  readonly service: ServiceName
  /** Key of the caller tokens that the gateway mints for this service. */
  readonly callerKey: string
  /** Confirms a caller whose request took long to arrive (`confirmWith`). */
  readonly confirm: ConfirmCaller
  /** The key shared with each service that may call this one. */
  readonly peerKeys: Readonly<Partial<Record<ServiceName, string>>>
}

export interface ServiceRoutesOptions<S extends ServiceName> extends TokenKeys {
  readonly service: S
  readonly handlers: Handlers<S>
  readonly internal: InternalHandlers<S>
}

type Route =
  | { readonly kind: 'public'; readonly operation: OperationDefinition; readonly handler: AnyHandler }
  | { readonly kind: 'internal'; readonly operation: InternalOperationDefinition; readonly handler: AnyHandler }

/**
 * The operations of a service behind the gateway: `handle` of its listener. Public operations arrive under their
 * unprefixed path with a caller token, internal ones under `/internal/...` with the calling service's token; a request
 * without the right token is refused with 401.
 * @throws Error when an operation that the service owns has no handler, or a handler no operation.
 */
export function serviceRoutes<S extends ServiceName>(
  options: ServiceRoutesOptions<S>,
): (exchange: Exchange) => Promise<void> {
  const router = new Router<Route>()
  const own = operationsOf(options.service).filter((operation) => operation.response !== UPGRADE)
  const internal = internalOperationsOf(options.service)
  const handlers = handlerTable(
    options.handlers,
    own.map((operation) => operation.id),
  )
  const internalHandlers = handlerTable(
    options.internal,
    internal.map((operation) => operation.id),
  )
  for (const operation of own) {
    router.add(operation.method, operation.path, { kind: 'public', operation, handler: handlers(operation.id) })
  }
  for (const operation of internal) {
    router.add(operation.method, operation.path, {
      kind: 'internal',
      operation,
      handler: internalHandlers(operation.id),
    })
  }
  return async (exchange) => {
    const match = router.match(exchange.request.method ?? '', exchange.path)
    if (match === undefined || 'allowed' in match) throw new ApiError('not_found', { message: 'Route not found' })
    const { value: route, params } = match
    exchange.facts['operation'] = route.operation.id
    const { operation, handler } = route
    if (route.kind === 'internal') {
      const more = await peerOf(route.operation, exchange, options)
      return answer(operation, handler, exchange, params, more)
    }
    const admitted = await callerOf(route.operation, exchange, options)
    return answer(operation, handler, exchange, params, {}, admitted)
  }
}

/** Checks that the names of operations and of handlers match, and gives access by name. */
export function handlerTable(handlers: object, ids: readonly string[]): (id: string) => AnyHandler {
  const table = new Map<string, AnyHandler>(Object.entries(handlers))
  const missing = ids.filter((id) => !table.has(id))
  const unknown = [...table.keys()].filter((id) => !ids.includes(id))
  if (missing.length > 0 || unknown.length > 0) {
    throw new Error(
      `Handlers and operations disagree; missing: ${missing.join(', ') || 'none'}; unknown: ${unknown.join(', ') || 'none'}`,
    )
  }
  return (id) => {
    const handler = table.get(id)
    if (!handler) throw new Error(`No handler for ${id}`)
    return handler
  }
}

async function callerOf(
  operation: OperationDefinition,
  exchange: Exchange,
  options: TokenKeys,
): Promise<AdmittedCaller | undefined> {
  if (operation.authentication === 'none') return undefined
  const { caller, body, ageMs } = await admit(() =>
    verifyCaller(headerOf(exchange, CALLER_HEADER), options.callerKey, options.service, operation.id),
  )
  exchange.expectedBody = body
  exchange.facts['organization_id'] = caller.organization_id
  exchange.facts['credential_id'] = caller.credential.id
  if (caller.inbox) exchange.facts['inbox_uid'] = caller.inbox.uid
  return new AdmittedCaller(caller, ageMs, (known) => options.confirm(operation.id, known))
}

async function peerOf(
  operation: InternalOperationDefinition,
  exchange: Exchange,
  options: TokenKeys,
): Promise<Record<string, unknown>> {
  const peer = await admit(() =>
    verifyService(headerOf(exchange, SERVICE_HEADER), options.peerKeys, options.service, operation.id),
  )
  exchange.facts['peer_service'] = peer
  if (operation.callers.includes(peer)) return { from: peer }
  throw new ApiError('unauthorized', { cause: new Error(`${peer} may not call ${operation.id}`) })
}

function headerOf(exchange: Exchange, name: string): string {
  const value = exchange.request.headers[name]
  return typeof value === 'string' ? value : ''
}

async function admit<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify()
  } catch (error) {
    if (error instanceof InvalidTokenError) throw new ApiError('unauthorized', { cause: error })
    throw error
  }
}
