import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import type { Caller } from '@restante/contracts/access'
import type { OperationDefinition } from '@restante/contracts/operations'
import { ApiError } from '@restante/service/errors'
import { type Exchange, hasBody, requireDeclaredLength, sendContinue } from '@restante/service/http'
import { CALLER_HEADER, KEY_HEADER } from '@restante/service/identity'
import type { Dispatcher } from 'undici'
import { ProxiedResponse } from './proxied-response.ts'
import type { Upstream } from './upstreams.ts'

/** Headers of one connection (RFC 9110 7.6.1), and those meant for the gateway only. */
const DROPPED_FROM_REQUEST = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'signature',
  'signature-input',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
])
/** Headers that only the gateway sets; a client's values must not be believed. */
const INTERNAL_HEADERS = 'x-restante-'

/** Methods that may be sent again when the connection broke before a response began. */
const REPEATABLE = new Set(['GET', 'HEAD'])

/** Where a request goes: an operation of the upstream, and its path as the upstream knows it. */
export interface Destination {
  readonly upstream: Upstream
  readonly operation: OperationDefinition
  readonly path: string
}

/** The sender of a request. */
export interface Origin {
  /** Absent for operations that take no key. */
  readonly caller: Caller | undefined
  /** Address of the client. */
  readonly peer: string
}

/**
 * Forwards a request to the service that owns the operation, and its response back, both as streams: data that a slow
 * reader does not take is not read either. An unreachable service is 503; nothing with an effect is sent twice.
 */
export async function forward(destination: Destination, exchange: Exchange, from: Origin): Promise<void> {
  const { upstream, operation, path } = destination
  const { request, response, search } = exchange
  // A declared length is checked before anything is forwarded. A body of undeclared length is measured by its reader.
  requireDeclaredLength(request, operation.bodyLimit)
  const method = request.method ?? 'GET'
  const options = {
    method,
    path: search === '' ? path : `${path}?${search}`,
    headers: requestHeaders(destination, exchange, from),
    body: bodyOf(exchange),
    // An operation that waits on purpose does so in addition to what any service may take.
    headersTimeout: upstream.timeoutMs + (operation.waits ?? 0),
  }
  if (!(options.body instanceof PassThrough)) return dispatch(upstream, options, response)
  sendContinue(request, response)
  request.pipe(options.body)
  try {
    await dispatch(upstream, options, response)
  } finally {
    // After an early response, the rest of the body is discarded: it would otherwise precede the next request of the
    // client.
    request.unpipe(options.body)
    request.resume()
  }
}

/**
 * The body of a request: its bytes, if they were read already, otherwise a separate stream. undici destroys the stream
 * when the response comes early; if it were the request itself, the rest of the body would never be read.
 */
function bodyOf({ request, received }: Exchange): Buffer | PassThrough | null {
  if (!forwardsBody(request)) return null
  return received ?? new PassThrough()
}

async function dispatch(
  upstream: Upstream,
  options: Dispatcher.DispatchOptions,
  response: ServerResponse,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const proxied = new ProxiedResponse(response)
    upstream.pool.dispatch(options, proxied)
    try {
      await proxied.over
      return
    } catch (cause) {
      // The client has disconnected: no response can be sent.
      if (response.destroyed) return
      if (response.headersSent) throw cause
      if (attempt === 0 && REPEATABLE.has(options.method) && options.body === null) continue
      throw new ApiError('service_unavailable', { retryAfter: 1, cause })
    }
  }
}

function requestHeaders({ upstream, operation }: Destination, exchange: Exchange, { caller, peer }: Origin): string[] {
  const { request, requestId, received } = exchange
  const headers = passedOn(request)
  headers.push('x-request-id', requestId, 'x-restante-peer', peer)
  if (operation.passesKey) headers.push(KEY_HEADER, request.headers.authorization ?? '')
  if (caller !== undefined) headers.push(CALLER_HEADER, upstream.mint.caller(operation.id, caller, received))
  return headers
}

/** The client's headers that a service gets to see, unchanged: names and values in turn. */
export function passedOn(request: IncomingMessage): string[] {
  const { rawHeaders } = request
  const perConnection = namedBy(request.headers.connection)
  const headers: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? ''
    if (DROPPED_FROM_REQUEST.has(name) || name.startsWith(INTERNAL_HEADERS) || perConnection.has(name)) continue
    headers.push(name, rawHeaders[index + 1] ?? '')
  }
  return headers
}

const NONE: ReadonlySet<string> = new Set()

function namedBy(connection: string | undefined): ReadonlySet<string> {
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return NONE
  return new Set(connection.split(',').map((name) => name.trim().toLowerCase()))
}

function forwardsBody(request: IncomingMessage): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && hasBody(request)
}
