import { isInfrastructureError } from '@restante/service/errors'
import { type Exchange, type Match, RawHttpError, Router } from '@restante/service/http'
import { PublicError } from './public-error.ts'
import { secure } from './response.ts'

/** A request of the sign-in origin (`AUTH_PORT`): pages, their calls, and the OpenID provider. */
export interface PublicRoute {
  readonly method: 'GET' | 'POST'
  /** As in the route tables of operations: `/connect/{ticket}`. */
  readonly path: string
  /** Name of the request in the log and the metrics. */
  readonly operation: string
  /** Whether HEAD is answered as GET. Only of documents: a GET that decides something has no HEAD. */
  readonly head?: boolean
  /** Whether a person reads the answer, errors too. Default: for GET. */
  readonly page?: boolean
  /** Answers, or throws: a `PublicError` is sent as it is, a failure without internals. */
  readonly serve: (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>
}

/**
 * Dispatches to the routes. Every answer has the headers of this origin, and none is open to scripts of another one.
 * @param sendErrorPage answers a person; without a route the error is a 404.
 * @throws Error when two routes have the same method and path.
 */
export function dispatch(
  routes: readonly PublicRoute[],
  sendErrorPage: (exchange: Exchange, error: PublicError) => void,
): (exchange: Exchange) => Promise<void> {
  const router = new Router<PublicRoute>()
  for (const route of routes) router.add(route.method, route.path, route)
  return async (exchange) => {
    secure(exchange.response)
    const match = router.match(exchange.request.method ?? '', exchange.path)
    try {
      await serve(exchange, match)
    } catch (thrown) {
      const error = asPublicError(exchange, thrown)
      exchange.facts['code'] = error.code
      if (isPage(match)) sendErrorPage(exchange, error)
      else error.send(exchange.response)
    }
  }
}

type Found = Match<PublicRoute> | { readonly allowed: readonly string[] } | undefined

async function serve(exchange: Exchange, match: Found): Promise<void> {
  if (match === undefined) throw new PublicError(404, 'not_found', 'There is nothing at this address')
  if ('allowed' in match) throw notAllowed(match.allowed)
  const { value: route, params } = match
  exchange.facts['operation'] = route.operation
  if (exchange.request.method === 'HEAD' && route.head !== true) throw notAllowed([route.method])
  await route.serve(exchange, params)
}

function isPage(match: Found): boolean {
  if (match === undefined) return true
  if ('allowed' in match) return false
  const { page, method } = match.value
  return page ?? method === 'GET'
}

function notAllowed(methods: readonly string[]): PublicError {
  const allow = methods.join(', ')
  return new PublicError(405, 'invalid_request', `Send one of: ${allow}`, { allow })
}

/**
 * A failure as its caller gets to know it: by an error code of OAuth, never as the envelope of the REST API (apps 11).
 * @throws what a response that has begun, or a malformed message, leaves to the listener.
 */
function asPublicError({ response, log, facts }: Exchange, error: unknown): PublicError {
  if (error instanceof PublicError) return error
  if (error instanceof RawHttpError || response.headersSent || response.destroyed) throw error
  if (isInfrastructureError(error)) {
    log.error({ err: error, ...facts }, 'request failed')
    return new PublicError(503, 'temporarily_unavailable', 'Try again in a moment', { 'retry-after': '1' })
  }
  log.error({ err: error, ...facts }, 'request failed')
  return new PublicError(500, 'server_error', 'Something went wrong here')
}
