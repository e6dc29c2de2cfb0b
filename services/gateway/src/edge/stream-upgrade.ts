import { randomUUID } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request as open } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { operations } from '@restante/contracts/operations'
import { LIMITS, ROUTE_NOT_FOUND } from '@restante/contracts/vocabulary'
import { within } from '@restante/service/concurrency'
import type { ClientAddresses } from '@restante/service/connections'
import type { Queryable } from '@restante/service/database'
import { ApiError, isInfrastructureError, UpstreamError } from '@restante/service/errors'
import { hasBody, requestIdOf, type ServiceClient } from '@restante/service/http'
import { CALLER_HEADER } from '@restante/service/identity'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Gauge } from 'prom-client'
import type { Identity } from '../identity/identity.ts'
import { resolveCaller } from './access/scope.ts'
import { bearerToken } from './authentication/authorization.ts'
import type { KeyLookup } from './authentication/key-lookup.ts'
import type { KeyUsage } from './authentication/key-usage.ts'
import { passedOn } from './proxy/forward.ts'
import type { Upstreams } from './proxy/upstreams.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'
import {
  type Handshake,
  handshakesTotal,
  headOf,
  passRefusal,
  postpone,
  type Refusal,
  refuse,
  UNAVAILABLE,
} from './stream-answers.ts'
import type { StreamLinks } from './stream-links.ts'

const openSockets = new Gauge({ name: 'restante_gateway_streams', help: 'Sockets piped to the live stream service' })

const STREAM = operations['stream.connect']
const PATH = /^\/v0\/?$/
/** A request for a stream is answered within this time, because the public TypeScript client waits for 4 s (events 12.1). */
const ANSWER_MS = 3_000
/** The time over which the stream service spreads the closes of an edge that shuts down. */
const DRAIN_OVER_MS = 20_000
const DRAIN_STEP_MS = 50
/**
 * Most ids in one request, so that it stays below 1 MB: clients choose ids of up to 128 characters, each of which JSON
 * may escape.
 */
export const DRAIN_BATCH = 3_500
const FORBIDDEN: Refusal = { status: 403, message: 'Forbidden' }

export interface StreamUpgradeOptions {
  readonly db: Queryable
  readonly keys: KeyLookup
  readonly usage: KeyUsage
  readonly peers: ClientAddresses
  readonly limits: RateLimits
  readonly upstreams: Upstreams
  readonly links: StreamLinks
  readonly fanout: ServiceClient<'gateway'>
  readonly log: Logger
  /** How long `stop` may wait for the sockets to be closed by the other side, in milliseconds. */
  readonly drainMs: number
}

/**
 * The WebSocket upgrade at `/v0` (events 6.1): authenticates, strips the key, attaches a caller token and from then on
 * only carries bytes between the client and the live stream service, which speaks the protocol.
 */
export class StreamUpgrade implements Component {
  readonly name = 'streams'
  readonly stage = 'sessions'
  readonly #options: StreamUpgradeOptions
  /** Sockets of handshakes and open streams, by the request id by which the stream service knows them. */
  readonly #sockets = new Map<string, Duplex>()
  /** Requests that wait at the stream service for events. Clients name them, and may give one name to several. */
  readonly #waiting = new Set<{ readonly requestId: string }>()

  constructor(options: StreamUpgradeOptions) {
    this.#options = options
  }

  /** The listener's `upgrade`. Never rejects: failures are answered on the socket. */
  readonly accept = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const handshake = { request, socket, head, requestId: this.#name(request, socket) }
    this.#accept(handshake).catch((error: unknown) => postpone(handshake, this.#passing(error, handshake.requestId)))
  }

  /** Runs a request that waits at the stream service, so that a shutdown has it answered. */
  async whileWaiting(requestId: string, request: () => Promise<void>): Promise<void> {
    const waiting = { requestId }
    this.#waiting.add(waiting)
    try {
      await request()
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** The client's request id, unless another socket has it: ids must distinguish sockets. */
  #name(request: IncomingMessage, socket: Duplex): string {
    const given = requestIdOf(request)
    const requestId = this.#sockets.has(given) ? randomUUID() : given
    this.#sockets.set(requestId, socket)
    socket.once('close', () => this.#sockets.delete(requestId))
    return requestId
  }

  /** What is thrown on the way to a stream passes: a rate, an outage, a fault of this process. */
  #passing(error: unknown, requestId: string): Refusal {
    const { log } = this.#options
    if (error instanceof ApiError && error.status === 429) {
      log.info({ operation: STREAM.id, request_id: requestId, status: 429 }, 'request')
      const { message, options } = error
      return { status: 429, message: `${message}; try again in ${options.retryAfter} s`, headers: error.headers() }
    }
    log.error({ err: error, request_id: requestId }, 'stream could not be opened')
    return isInfrastructureError(error) ? UNAVAILABLE : { status: 500, message: 'Internal server error' }
  }

  async #accept(handshake: Handshake): Promise<void> {
    const { request, socket, requestId } = handshake
    const begun = performance.now()
    if ((request.url?.length ?? 0) > LIMITS.request.url) {
      return refuse(handshake, { status: 414, message: 'URI Too Long' })
    }
    const { path, query } = targetOf(request)
    if (request.method !== 'GET' || !PATH.test(path)) {
      return refuse(handshake, { status: 404, message: ROUTE_NOT_FOUND })
    }
    // If the body were passed on, its declared length would cover the beginning of the data that follows.
    if (hasBody(request)) return refuse(handshake, { status: 400, message: 'Bad Request' })
    const { links, peers } = this.#options
    const peer = peers.of(request)
    const token = await within(ANSWER_MS, this.#callerToken(request, query, peer), () => {
      throw new UpstreamError('the key could not be looked up in time')
    })
    const left = () => ANSWER_MS - (performance.now() - begun)
    if (typeof token === 'string') await within(left(), links.ready(), () => {})
    // Its close has been announced already, and would not end the request to the stream service.
    if (socket.destroyed) return
    if (typeof token !== 'string') {
      this.#options.log.info({ operation: STREAM.id, request_id: requestId, status: token.status, peer }, 'request')
      return refuse(handshake, token)
    }
    const upstream = this.#options.upstreams.of(STREAM.service)
    const target = new URL(STREAM.path === '' ? '/' : STREAM.path, upstream.url)
    const headers = passedOn(request)
    headers.push('host', target.host, 'connection', 'Upgrade', 'upgrade', 'websocket')
    headers.push('x-request-id', requestId, 'x-restante-peer', peer, CALLER_HEADER, token)
    const channel = links.open()
    const outgoing = open(target, { method: 'GET', headers, ...(channel && { createConnection: () => channel }) })
    this.#join(outgoing, handshake, left())
    outgoing.end()
  }

  /**
   * The token of a caller that may open a stream, or the refusal of any other, which does not reveal the reason.
   * @throws ApiError 429 beyond the rate of a valid key.
   */
  async #callerToken(request: IncomingMessage, query: URLSearchParams, peer: string): Promise<string | Refusal> {
    const { db, limits, usage, upstreams, log } = this.#options
    try {
      const identity = await this.#identify(request, query, peer)
      if ('status' in identity) return identity
      usage.note(identity)
      await limits.admit(identity, peer)
      if (identity.credential.provisional) return FORBIDDEN
      const caller = await resolveCaller(db, identity, {})
      log.info(
        { operation: STREAM.id, organization_id: identity.organizationId, credential_id: identity.credential.id, peer },
        'stream requested',
      )
      return upstreams.of(STREAM.service).mint.caller(STREAM.id, caller)
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) return FORBIDDEN
      throw error
    }
  }

  /** @throws ApiError 401 */
  async #identify(request: IncomingMessage, query: URLSearchParams, peer: string): Promise<Identity | Refusal> {
    const { keys, limits } = this.#options
    try {
      return await limits.authenticate(peer, async (sparingly) => keys.authenticate(keyOf(request, query), sparingly))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error
      // Only a wrong key is answered so, after too many of them. Like other wrong keys it is refused (events 6.1): a new
      // attempt does not make it right.
      return { status: 429, message: error.message, headers: error.headers() }
    }
  }

  /** @param ms how long the stream service may take to answer. */
  #join(outgoing: ClientRequest, handshake: Handshake, ms: number): void {
    const { socket, head, requestId } = handshake
    const { log } = this.#options
    const silence = setTimeout(() => outgoing.destroy(new Error('the live stream service did not answer')), ms)
    outgoing.once('close', () => clearTimeout(silence))
    socket.once('close', () => outgoing.destroy())
    const unreachable = (error: Error): void => {
      if (socket.destroyed) return
      log.warn({ err: error, request_id: requestId }, 'the live stream service could not be reached')
      postpone(handshake, UNAVAILABLE)
    }
    outgoing.once('error', unreachable)
    outgoing.once('response', (answer) => {
      // The client is answered: a failure from here on only ends that answer.
      outgoing.off('error', unreachable).on('error', () => {})
      const { statusCode: status = 0 } = answer
      if (status < 500) return passRefusal(answer, handshake)
      answer.resume()
      log.warn({ status, request_id: requestId }, 'the live stream service failed')
      postpone(handshake, { ...UNAVAILABLE, status })
    })
    outgoing.once('upgrade', (answer, inner: Duplex, innerHead) => {
      if (socket.destroyed) {
        inner.destroy()
        return
      }
      this.#pipe(answer, socket, inner, requestId)
      if (innerHead.length > 0) socket.write(innerHead)
      if (head.length > 0) inner.write(head)
    })
  }

  #pipe(answer: IncomingMessage, socket: Duplex, inner: Duplex, requestId: string): void {
    for (const end of [socket, inner]) {
      if (!(end instanceof Socket)) continue
      end.setTimeout(0)
      end.setNoDelay(true)
      end.setKeepAlive(true, 30_000)
    }
    handshakesTotal.inc({ status: 101 })
    openSockets.inc()
    socket.once('close', () => openSockets.dec())
    const part = (): void => {
      socket.destroy()
      inner.destroy()
    }
    inner.once('error', part)
    inner.once('close', part)
    socket.once('close', part)
    socket.write(headOf(answer, `X-Request-Id: ${requestId}`))
    inner.pipe(socket)
    socket.pipe(inner)
  }

  /**
   * Reports its sockets to the stream service, which closes them with 1012, spread so that their clients do not all
   * reconnect at once, and its polls, which are answered at once. Then it waits for them to close; remaining sockets are destroyed.
   */
  async stop(): Promise<void> {
    const { drainMs } = this.#options
    this.#drain([...this.#sockets.keys(), ...this.#polls()], Math.min(DRAIN_OVER_MS, Math.max(0, drainMs - 1_000)))
    const deadline = Date.now() + drainMs
    while (this.#sockets.size > 0 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_STEP_MS))
    }
    for (const socket of this.#sockets.values()) socket.destroy()
    // Polls that came in the meantime: the server, which stops next, waits for their answers.
    this.#drain(this.#polls(), 0)
  }

  /** The names of the requests that wait, each once. */
  #polls(): string[] {
    return [...new Set(Array.from(this.#waiting, ({ requestId }) => requestId))]
  }

  #drain(ids: readonly string[], over: number): void {
    const { fanout, log } = this.#options
    for (let from = 0; from < ids.length; from += DRAIN_BATCH) {
      const request = { request_ids: ids.slice(from, from + DRAIN_BATCH), over_ms: over }
      // The response only confirms the request; what counts here is that the sockets close.
      void fanout.call('websocket-fanout.drainConnections', request).catch((error: unknown) => {
        log.warn(
          { err: error, streams: request.request_ids.length },
          'stream service could not be notified of the shutdown',
        )
      })
    }
  }
}

/** The header takes precedence, then `api_key`, then its other name (events 6.1). @throws ApiError 401 */
function keyOf(request: IncomingMessage, query: URLSearchParams): string {
  const header = request.headers.authorization
  const given = query.get('api_key') || query.get('auth_token')
  return bearerToken(header === undefined && given !== null ? `Bearer ${given}` : header)
}

/** The target as it was sent, unparsed: what a client sends need not be a URL at all. */
function targetOf({ url = '' }: IncomingMessage): { path: string; query: URLSearchParams } {
  const mark = url.indexOf('?')
  return mark < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, mark), query: new URLSearchParams(url.slice(mark + 1)) }
}
