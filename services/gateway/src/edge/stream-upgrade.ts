import { randomUUID } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, request as open } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { operations } from '@restante/contracts/operations'
import { LIMITS, ROUTE_NOT_FOUND } from '@restante/contracts/vocabulary'
import type { ClientAddresses } from '@restante/service/connections'
import type { Queryable } from '@restante/service/database'
import { ApiError, isInfrastructureError } from '@restante/service/errors'
import { answerOnSocket, hangUp, hasBody, requestIdOf, type ServiceClient } from '@restante/service/http'
import { CALLER_HEADER } from '@restante/service/identity'
import type { Component } from '@restante/service/process'
import type { Logger } from '@restante/service/telemetry'
import { Counter, Gauge } from 'prom-client'
import { resolveCaller } from './access/scope.ts'
import { bearerToken } from './authentication/authorization.ts'
import type { KeyLookup } from './authentication/key-lookup.ts'
import type { KeyUsage } from './authentication/key-usage.ts'
import { passedOn } from './proxy/forward.ts'
import { passesBack } from './proxy/proxied-response.ts'
import type { Upstreams } from './proxy/upstreams.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'

const openSockets = new Gauge({ name: 'restante_gateway_streams', help: 'Sockets piped to the live stream service' })
const handshakesTotal = new Counter({
  name: 'restante_gateway_stream_handshakes_total',
  help: 'Requests for a stream by the status of their answer; 101: the stream is open',
  labelNames: ['status'],
})
for (const status of [101, 403, 429, 500, 503]) handshakesTotal.inc({ status }, 0)

const STREAM = operations['stream.connect']
const PATH = /^\/v0\/?$/
const CONNECT_TIMEOUT_MS = 10_000
/** The time over which the stream service spreads the closes of an edge that shuts down. */
const DRAIN_OVER_MS = 20_000
const DRAIN_STEP_MS = 50
/**
 * Most ids in one request, so that it stays below 1 MB: clients choose ids of up to 128 characters, each of which JSON
 * may escape.
 */
export const DRAIN_BATCH = 3_500
const UNAVAILABLE = 'Service temporarily unavailable'

export interface StreamUpgradeOptions {
  readonly db: Queryable
  readonly keys: KeyLookup
  readonly usage: KeyUsage
  readonly peers: ClientAddresses
  readonly limits: RateLimits
  readonly upstreams: Upstreams
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
  readonly #sockets = new Map<string, Socket>()
  /** Requests that wait at the stream service for events. Clients name them, and may give one name to several. */
  readonly #waiting = new Set<{ readonly requestId: string }>()

  constructor(options: StreamUpgradeOptions) {
    this.#options = options
  }

  /** The listener's `upgrade`. Never rejects: failures are answered on the socket. */
  readonly accept = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    socket.on('error', () => socket.destroy())
    const requestId = this.#name(request, socket)
    this.#accept(request, socket, head, requestId).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 429) {
        this.#options.log.info({ operation: STREAM.id, request_id: requestId, status: 429 }, 'request')
        return refuse(socket, requestId, 429, error.message, error.headers())
      }
      const unavailable = isInfrastructureError(error)
      this.#options.log.error({ err: error, request_id: requestId }, 'stream could not be opened')
      if (unavailable) refuse(socket, requestId, 503, UNAVAILABLE, { 'Retry-After': '1' })
      else refuse(socket, requestId, 500, 'Internal server error')
    })
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
  #name(request: IncomingMessage, socket: Socket): string {
    const given = requestIdOf(request)
    const requestId = this.#sockets.has(given) ? randomUUID() : given
    this.#sockets.set(requestId, socket)
    socket.once('close', () => this.#sockets.delete(requestId))
    return requestId
  }

  async #accept(request: IncomingMessage, socket: Socket, head: Buffer, requestId: string): Promise<void> {
    const { log, peers } = this.#options
    if ((request.url?.length ?? 0) > LIMITS.request.url) return refuse(socket, requestId, 414, 'URI Too Long')
    const { path, query } = targetOf(request)
    if (request.method !== 'GET' || !PATH.test(path)) return refuse(socket, requestId, 404, ROUTE_NOT_FOUND)
    // If the body were passed on, its declared length would cover the beginning of the data that follows.
    if (hasBody(request)) return refuse(socket, requestId, 400, 'Bad Request')
    const peer = peers.of(request)
    const token = await this.#callerToken(request, query, peer)
    // Its close has been announced already, and would not end the request to the stream service.
    if (socket.destroyed) return
    if (token === undefined) {
      log.info({ operation: STREAM.id, request_id: requestId, status: 403, peer }, 'request')
      return refuse(socket, requestId, 403, 'Forbidden')
    }
    const upstream = this.#options.upstreams.of(STREAM.service)
    const target = new URL(STREAM.path === '' ? '/' : STREAM.path, upstream.url)
    const headers = passedOn(request)
    headers.push('host', target.host, 'connection', 'Upgrade', 'upgrade', 'websocket')
    headers.push('x-request-id', requestId, 'x-restante-peer', peer, CALLER_HEADER, token)
    const outgoing = open(target, { method: 'GET', headers, timeout: CONNECT_TIMEOUT_MS })
    this.#join(outgoing, socket, head, requestId)
    outgoing.end()
  }

  /**
   * `undefined` when there is no key that may open a stream. The handshake does not reveal the reason.
   * @throws ApiError 429
   */
  async #callerToken(request: IncomingMessage, query: URLSearchParams, peer: string): Promise<string | undefined> {
    const { db, keys, limits, usage, upstreams, log } = this.#options
    try {
      const identity = await limits.authenticate(peer, async (sparingly) =>
        keys.authenticate(keyOf(request, query), sparingly),
      )
      usage.note(identity)
      await limits.admit(identity, peer)
      if (identity.credential.provisional) return undefined
      const caller = await resolveCaller(db, identity, {})
      log.info(
        { operation: STREAM.id, organization_id: identity.organizationId, credential_id: identity.credential.id, peer },
        'stream requested',
      )
      return upstreams.of(STREAM.service).mint.caller(STREAM.id, caller)
    } catch (error) {
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) return undefined
      throw error
    }
  }

  #join(outgoing: ClientRequest, socket: Socket, head: Buffer, requestId: string): void {
    socket.once('close', () => outgoing.destroy())
    outgoing.once('timeout', () => outgoing.destroy(new Error('the live stream service did not answer')))
    outgoing.once('error', (error) => {
      if (socket.destroyed) return
      this.#options.log.warn({ err: error, request_id: requestId }, 'the live stream service could not be reached')
      refuse(socket, requestId, 503, UNAVAILABLE, { 'Retry-After': '1' })
    })
    // Refused by the service, for example one connection too many: its response is passed to the client.
    outgoing.once('response', (answer) => {
      handshakesTotal.inc({ status: answer.statusCode ?? 0 })
      socket.write(headOfRefusal(answer, requestId))
      pipeline(answer, socket, () => hangUp(socket))
    })
    outgoing.once('upgrade', (answer, inner, innerHead) => {
      outgoing.setTimeout(0)
      if (socket.destroyed) {
        inner.destroy()
        return
      }
      this.#pipe(answer, socket, inner, requestId)
      if (innerHead.length > 0) socket.write(innerHead)
      if (head.length > 0) inner.write(head)
    })
  }

  #pipe(answer: IncomingMessage, socket: Socket, inner: Socket, requestId: string): void {
    for (const end of [socket, inner]) {
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

/** Status line and headers of a response as the service sent them, and `more`. */
function headOf(answer: IncomingMessage, more: string, passes: (name: string) => boolean = () => true): string {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`]
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index] ?? ''
    if (passes(name.toLowerCase())) lines.push(`${name}: ${answer.rawHeaders[index + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n${more}\r\n\r\n`
}

/** The same for a refusal, whose body is passed on decoded and ends with the connection. */
function headOfRefusal(answer: IncomingMessage, requestId: string): string {
  return headOf(answer, `X-Request-Id: ${requestId}\r\nConnection: close`, passesBack)
}

/** A refused handshake has the infrastructure's form of an error: only a message (events 6.1). */
function refuse(
  socket: Socket,
  requestId: string,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  handshakesTotal.inc({ status })
  answerOnSocket(socket, { status, body: { message }, headers, requestId })
}
