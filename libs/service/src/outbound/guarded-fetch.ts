import { context } from '@opentelemetry/api'
import { suppressTracing } from '@opentelemetry/core'
import { Agent, type Dispatcher } from 'undici'
import { TimeLimitError, withTimeLimit } from '../concurrency/time-limit.ts'
import { ApiError } from '../errors/api-error.ts'
import type { Component } from '../process/component.ts'
import { AddressPolicy, type AllowedAddresses } from './address-policy.ts'
import { guardedConnector } from './connector.ts'
import {
  OutboundNetworkError,
  OutboundRefusedError,
  OutboundTimeoutError,
  OutboundTooLargeError,
  OutboundUnavailableError,
} from './errors.ts'
import { codeOf, isOwnTrouble } from './own-trouble.ts'
import { followRedirect, type Hop } from './redirects.ts'
import { NameResolver } from './resolver.ts'
import { type ResponseBody, readBeginning, readWhole } from './response-body.ts'

export interface GuardedFetchOptions {
  /** Version of this build, for `User-Agent: Restante/<version>`. */
  readonly version: string
  /** What is allowed in addition to https to public addresses. Default: nothing. */
  readonly allow?: AllowedAddresses & { readonly http?: boolean }
  /** Certificate authorities instead of the public ones, PEM. */
  readonly ca?: string
  /** DNS servers (`address` or `address:port`) instead of the system's. */
  readonly dnsServers?: readonly string[]
  /** Name of the component; default `outbound`. A service with two clients names one of them. */
  readonly name?: string
}

export interface OutboundRequest {
  /** Default GET. */
  readonly method?: 'GET' | 'POST'
  /** Connection headers (`Host`, `Content-Length`, ...) and `User-Agent` are set here; values for them are ignored. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Time limit for everything: name resolution, connections, redirects, the last byte. */
  readonly timeoutMs: number
  /** How much of the response's content is read into memory. */
  readonly maxBytes: number
  /**
   * `whole` (default): all of the content, decoded, or OutboundTooLargeError. `beginning`: at most the first `maxBytes`
   * as they arrive, for a response of which only the status matters; then failures after the headers are not errors.
   */
  readonly read?: 'whole' | 'beginning'
  /**
   * How many redirects are followed, each checked like the first URL. Default 0: the redirect itself is the response.
   */
  readonly redirects?: number
  /**
   * Called with the number of bytes of a `whole` content as they arrive; an ApiError that it throws ends the request
   * and is rethrown.
   */
  readonly count?: (bytes: number) => void
  readonly signal?: AbortSignal
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The URL that answered, after redirects. */
  readonly url: string
  readonly body: Buffer
  readonly truncated: boolean
}

const CONNECT_TIMEOUT_MS = 10_000

/** Headers of the connection, or set here; a user's header of that name must not reach the wire (request smuggling). */
const OWN_HEADERS = new Set(
  'host connection content-length transfer-encoding upgrade expect keep-alive te trailer user-agent accept-encoding'.split(
    ' ',
  ),
)

/**
 * The one client for URLs that come from users: webhooks, attachments, policies of their correspondents. It reaches public addresses only, keeps no
 * cookies, uses no proxy, verifies TLS (1.2 or newer), and bounds every response in time and size.
 */
export class GuardedFetch implements Component {
  readonly name: string
  readonly #agent: Agent
  readonly #http: boolean
  readonly #userAgent: string

  /** @throws Error when an allowed network is not in CIDR form. */
  constructor(options: GuardedFetchOptions) {
    this.name = options.name ?? 'outbound'
    const policy = new AddressPolicy(options.allow)
    const resolver = new NameResolver({ servers: options.dnsServers, system: policy.local })
    this.#http = options.allow?.http ?? false
    this.#userAgent = `Restante/${options.version}`
    this.#agent = new Agent({
      connect: guardedConnector({ policy, resolver, ca: options.ca, timeoutMs: CONNECT_TIMEOUT_MS }),
      allowH2: false,
      // The request's own time limit covers these.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Short: a receiver that closes an idle connection just as it is reused would cost a delivery attempt.
      keepAliveTimeout: 2_000,
      keepAliveMaxTimeout: 2_000,
    })
  }

  async stop(): Promise<void> {
    await this.#agent.destroy()
  }

  /**
   * Makes one request. A response of any status is a result.
   * @throws OutboundRefusedError, OutboundTimeoutError, OutboundTooLargeError, OutboundNetworkError (for reasons on
   * this side OutboundUnavailableError); the reason of
   * `signal`.
   */
  async fetch(url: string, request: OutboundRequest): Promise<OutboundResponse> {
    const { timeoutMs, signal: given } = request
    return withTimeLimit(timeoutMs, given ? [given] : [], async (signal) => {
      try {
        // Trace ids must not reach servers outside the installation.
        const untraced = suppressTracing(context.active())
        return await context.with(untraced, () => this.#follow(firstHop(url, request), request, signal))
      } catch (error) {
        if (given?.aborted) throw given.reason
        throw signal.reason instanceof TimeLimitError ? new OutboundTimeoutError(timeoutMs) : typed(error, timeoutMs)
      }
    })
  }

  async #follow(first: Hop, request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    let hop = first
    for (let left = request.redirects ?? 0; ; left--) {
      const response = await this.#send(hop, signal)
      const next = request.redirects
        ? followRedirect(hop, response.statusCode, response.headers['location'])
        : undefined
      if (!next) return await finish(hop, response, request)
      await response.body.dump({ limit: 16_384, signal })
      if (left === 0) throw new OutboundRefusedError('redirects', `More than ${request.redirects} redirects.`)
      hop = next
    }
  }

  #send(hop: Hop, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { url } = hop
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && this.#http))
      throw new OutboundRefusedError('protocol', `${url.protocol.slice(0, -1)} URLs are not allowed.`)
    if (url.username !== '' || url.password !== '')
      throw new OutboundRefusedError('credentials', 'A URL with a user name or password is not allowed.')
    return this.#agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: hop.method,
      headers: { ...hop.headers, 'user-agent': this.#userAgent, 'accept-encoding': 'identity' },
      body: hop.body ?? null,
      signal,
    })
  }
}

function firstHop(url: string, request: OutboundRequest): Hop {
  if (!URL.canParse(url)) throw new OutboundRefusedError('url', 'Not an absolute URL.')
  const headers = Object.entries(request.headers ?? {}).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase()))
  return {
    url: new URL(url),
    method: request.method ?? 'GET',
    headers: Object.fromEntries(headers),
    body: request.body,
  }
}

async function finish(
  hop: Hop,
  response: Dispatcher.ResponseData,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const { bytes, truncated } = await readBody(response, request)
  // Only the deadline may truncate a `beginning`; a caller that aborted wants no response.
  if (truncated) request.signal?.throwIfAborted()
  return { status: response.statusCode, headers: response.headers, url: hop.url.href, body: bytes, truncated }
}

async function readBody({ body, headers }: Dispatcher.ResponseData, request: OutboundRequest): Promise<ResponseBody> {
  if (request.read === 'beginning') return readBeginning(body, request.maxBytes)
  try {
    return await readWhole(body, request.maxBytes, String(headers['content-encoding'] ?? ''), request.count)
  } finally {
    // Frees the connection when reading ended early; does nothing after the end.
    body.on('error', () => {}).destroy()
  }
}

/** Maps everything that undici, the sockets and zlib may throw to one of the outbound errors. */
function typed(error: unknown, timeoutMs: number): Error {
  if (error instanceof ApiError) return error
  if (
    error instanceof OutboundRefusedError ||
    error instanceof OutboundTooLargeError ||
    error instanceof OutboundNetworkError
  )
    return error
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new OutboundTimeoutError(Math.min(timeoutMs, CONNECT_TIMEOUT_MS))
  if (code === 'UND_ERR_INVALID_ARG') return new OutboundRefusedError('header', 'A header is not valid in HTTP.')
  return isOwnTrouble(error) ? new OutboundUnavailableError(code) : new OutboundNetworkError(code)
}
