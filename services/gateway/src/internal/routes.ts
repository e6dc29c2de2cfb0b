import { internalOperationsOf } from '@restante/contracts/internal'
import type { InternalOperationDefinition } from '@restante/contracts/operations'
import { ROUTE_NOT_FOUND, type ServiceName } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import {
  type AnyHandler,
  answer,
  type Exchange,
  handlerTable,
  type InternalHandlers,
  Router,
} from '@restante/service/http'
import { InvalidTokenError, SERVICE_HEADER, verifyService } from '@restante/service/identity'

export interface InternalRoutesOptions {
  readonly handlers: InternalHandlers<'gateway'>
  /** The key shared with each service that may call the gateway. */
  readonly peerKeys: Readonly<Partial<Record<ServiceName, string>>>
}

interface InternalRoute {
  readonly operation: InternalOperationDefinition
  readonly handler: AnyHandler
}

/**
 * The gateway's internal operations. The edge is public, so a request without the token of a service that may call the
 * operation gets the response of a path that does not exist.
 */
export function internalRoutes(options: InternalRoutesOptions): (exchange: Exchange) => Promise<void> {
  const operations = internalOperationsOf('gateway')
  const handlers = handlerTable(
    options.handlers,
    operations.map((operation) => operation.id),
  )
  const router = new Router<InternalRoute>()
  for (const operation of operations) {
    router.add(operation.method, operation.path, { operation, handler: handlers(operation.id) })
  }
  return async (exchange) => {
    const match = router.match(exchange.request.method ?? '', exchange.path)
    if (match === undefined || 'allowed' in match) throw unknownRoute()
    const { operation, handler } = match.value
    const from = await peerOf(exchange, operation, options.peerKeys)
    exchange.facts['operation'] = operation.id
    exchange.facts['peer_service'] = from
    await answer(operation, handler, exchange, match.params, { from })
  }
}

async function peerOf(
  exchange: Exchange,
  operation: InternalOperationDefinition,
  keys: InternalRoutesOptions['peerKeys'],
): Promise<ServiceName> {
  const token = exchange.request.headers[SERVICE_HEADER]
  if (typeof token !== 'string') throw unknownRoute()
  try {
    const peer = await verifyService(token, keys, 'gateway', operation.id)
    if (operation.callers.includes(peer)) return peer
  } catch (error) {
    if (!(error instanceof InvalidTokenError)) throw error
  }
  exchange.log.warn({ operation: operation.id }, 'internal operation called without a valid token')
  throw unknownRoute()
}

function unknownRoute(): ApiError {
  return new ApiError('not_found', { message: ROUTE_NOT_FOUND })
}
