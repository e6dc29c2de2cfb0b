import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Caller } from '@restante/contracts/access'
import { MCP_ENDPOINT } from '@restante/contracts/operations'
import { ROUTE_NOT_FOUND } from '@restante/contracts/vocabulary'
import { ApiError } from '@restante/service/errors'
import { type Exchange, readBody, type ServiceClient, sendJson } from '@restante/service/http'
import { CALLER_HEADER, InvalidTokenError, KEY_HEADER, verifyCaller } from '@restante/service/identity'
import type { Logger } from '@restante/service/telemetry'
import { Api, type ApiOptions } from '../api/api.ts'
import type { BodyThreads } from '../untrusted/index.ts'
import { asksForProgress } from './progress.ts'
import { ToolServer } from './tool-server.ts'

export interface EndpointOptions {
  readonly gateway: ServiceClient<'mcp'>
  /** Key of the caller tokens. */
  readonly callerKey: string
  readonly api: Pick<ApiOptions, 'dispatcher' | 'url'>
  readonly bodyThreads: BodyThreads
  readonly docsUrl: string
  /** Aborted when this instance shuts down. */
  readonly stopping: AbortSignal
  readonly log: Logger
}

/** Silence after which a stream says that it is still there, in milliseconds: proxies give up one that is quiet. */
const KEEP_ALIVE_MS = 15_000
/** JSON-RPC 2.0, 5.1. */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
/**
 * Messages of one request. MCP has no batches any more; older clients may send them. A body has room for millions, each of
 * which would be checked, and its answer held until the last one is there.
 */
const MAX_BATCH = 20

/** Streamable HTTP without sessions (mcp 1): each request stands alone, so any instance can answer it, also after a restart. */
export class Endpoint {
  readonly #options: EndpointOptions

  constructor(options: EndpointOptions) {
    this.#options = options
  }

  readonly handle = async (exchange: Exchange): Promise<void> => {
    const { facts, bodies } = exchange
    const caller = await this.#callerOf(exchange)
    facts['operation'] = MCP_ENDPOINT.id
    facts['organization_id'] = caller.organization_id
    facts['credential_id'] = caller.credential.id
    // A request takes memory until it is answered: for its body, and for what the API answers.
    await bodies.hold(caller.organization_id, (count) => this.#answer(exchange, caller, count))
  }

  async #answer(exchange: Exchange, caller: Caller, count: (bytes: number) => void): Promise<void> {
    const { request, response, requestId, signal, facts } = exchange
    const { gateway, api, bodyThreads, docsUrl, stopping } = this.#options
    const message = await received(exchange, count)
    if (message === undefined) {
      return sendJson(response, 400, { jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message: 'Parse error' } })
    }
    if (Array.isArray(message) && message.length > MAX_BATCH) {
      const error = { code: INVALID_REQUEST, message: `A batch has at most ${MAX_BATCH} messages` }
      return sendJson(response, 400, { jsonrpc: '2.0', id: null, error })
    }
    const authorization = headerOf(exchange, KEY_HEADER)
    const client = headerOf(exchange, 'x-restante-peer')
    const server = new ToolServer({
      caller,
      api: new Api({ ...api, authorization, client, requestId, signal, count }),
      reader: bodyThreads.readerOf(caller.organization_id),
      gateway,
      peer: client,
      docsUrl,
      signal,
      stopping,
      facts,
      log: exchange.log,
    })
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: !asksForProgress(message),
      keepAliveMs: KEEP_ALIVE_MS,
    })
    await server.serve(transport)
    try {
      await transport.handleRequest(request, response, message)
      await exchange.over
    } finally {
      await server.stop()
    }
  }

  /** @throws ApiError 404 without a valid token of the gateway, so that the endpoint does not reveal itself. */
  async #callerOf(exchange: Exchange): Promise<Caller> {
    if (exchange.path !== MCP_ENDPOINT.path || exchange.request.method !== MCP_ENDPOINT.method) throw unknownRoute()
    try {
      const token = headerOf(exchange, CALLER_HEADER)
      return (await verifyCaller(token, this.#options.callerKey, 'mcp', MCP_ENDPOINT.id)).caller
    } catch (error) {
      if (!(error instanceof InvalidTokenError)) throw error
      this.#options.log.warn({ operation: MCP_ENDPOINT.id }, 'MCP endpoint called without a valid token')
      throw unknownRoute()
    }
  }
}

/** The JSON of a body; undefined where it is none. */
async function received({ request, response }: Exchange, count: (bytes: number) => void): Promise<unknown> {
  const body = await readBody(request, response, MCP_ENDPOINT.bodyLimit, count)
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function headerOf({ request }: Exchange, name: string): string {
  const value = request.headers[name]
  return typeof value === 'string' ? value : ''
}

function unknownRoute(): ApiError {
  return new ApiError('not_found', { message: ROUTE_NOT_FOUND })
}
