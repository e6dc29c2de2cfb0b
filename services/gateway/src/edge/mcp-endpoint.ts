import type { IncomingMessage, ServerResponse } from 'node:http'
import { MCP_ENDPOINT } from '@restante/contracts/operations'
import { ApiError } from '@restante/service/errors'
import { type Exchange, type Match, RawHttpError } from '@restante/service/http'
import { answerPreflight } from './browsers.ts'
import type { Route } from './route-table.ts'
import { isSigned } from './signatures/signed-message.ts'

/** The endpoint as a route of the edge: no prefix, no parameters. */
const ROUTE: Match<Route> = {
  value: { operation: MCP_ENDPOINT, prefix: 'organization', prefixSegments: 0, target: { kind: 'remote' } },
  params: {},
  path: MCP_ENDPOINT.path,
}

/**
 * The MCP endpoint (mcp 1): what differs from an operation of the API. Browsers may call it from the origins of the
 * configuration only, so that a page which a name server has pointed at a private address cannot use it (DNS rebinding).
 */
export class McpEndpoint {
  readonly #origins: ReadonlySet<string>

  /** @param origins of the pages that may call it. */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
  }

  matches({ path }: Exchange): boolean {
    return path === MCP_ENDPOINT.path || path === `${MCP_ENDPOINT.path}/`
  }

  /**
   * @param call admits and forwards a request.
   * @throws ApiError 403 for another origin, 401 without a key. RawHttpError 405: no request has a session to read or end.
   */
  async serve(exchange: Exchange, call: (route: Match<Route>) => Promise<void>): Promise<void> {
    const { request, response, facts } = exchange
    facts['operation'] = MCP_ENDPOINT.id
    this.#openTo(request, response)
    if (request.method === 'OPTIONS') return answerPreflight(request, response)
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST, OPTIONS')
      throw new RawHttpError(405, 'Method Not Allowed')
    }
    try {
      // The tools call the API with the key of the request, which a signature does not carry.
      if (isSigned(request)) throw withoutKey()
      await call(ROUTE)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401 && !response.headersSent) {
        response.setHeader('www-authenticate', 'Bearer')
      }
      throw error
    }
  }

  #openTo({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
    response.setHeader('vary', 'Origin')
    if (origin === undefined) return
    if (!this.#origins.has(origin)) {
      throw new ApiError('forbidden', {
        message: 'Pages of this origin may not call the MCP server',
        fix: 'Ask the operator of this installation to add the origin to MCP_ORIGINS.',
      })
    }
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', 'Retry-After, X-Request-Id, WWW-Authenticate')
  }
}

function withoutKey(): ApiError {
  return new ApiError('missing_authorization', {
    message: 'The MCP server needs an API key; a signed request has none',
    fix: 'Send the key in the header: Authorization: Bearer <key>.',
  })
}
