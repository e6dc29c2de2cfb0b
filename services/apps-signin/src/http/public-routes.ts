import { type Exchange, type Match, Router } from '@restante/service/http'
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
  /** Answers, or throws: a `PublicError` is sent as JSON, any other error as the listener does. */
  readonly serve: (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>
}

/**
 * Dispatches to the routes. Every answer has the headers of this origin, and none is open to scripts of another one.
 * @param otherwise answers a request without a route.
 * @throws Error when two routes have the same method and path.
 */
export function dispatch(
  routes: readonly PublicRoute[],
  otherwise: (exchange: Exchange) => Promise<void>,
): (exchange: Exchange) => Promise<void> {
  const router = new Router<PublicRoute>()
  for (const route of routes) router.add(route.method, route.path, route)
  return async (exchange) => {
    secure(exchange.response)
    const match = router.match(exchange.request.method ?? '', exchange.path)
    if (match === undefined) return otherwise(exchange)
    try {
      await serve(exchange, match)
    } catch (error) {
      if (!(error instanceof PublicError)) throw error
      exchange.facts['code'] = error.code
      error.send(exchange.response)
    }
  }
}

type Found = Match<PublicRoute> | { readonly allowed: readonly string[] }

async function serve(exchange: Exchange, match: Found): Promise<void> {
  if ('allowed' in match) throw notAllowed(match.allowed)
  const { value: route, params } = match
  exchange.facts['operation'] = route.operation
  if (exchange.request.method === 'HEAD' && route.head !== true) throw notAllowed([route.method])
  await route.serve(exchange, params)
}

function notAllowed(methods: readonly string[]): PublicError {
  const allow = methods.join(', ')
  return new PublicError(405, 'invalid_request', `Send one of: ${allow}`, { allow })
}
