import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Counter, Gauge } from 'prom-client'
import { PeerLimit } from '../../connections/peer-limit.ts'
import { LINGER_MS } from '../framing/socket-answer.ts'

/** How long a client may keep a connection waiting, in milliseconds, and how many connections there may be. */
export interface ConnectionLimits {
  /** For the header of a request, from its first byte; on a new connection, from its opening. Then 408. */
  readonly headersMs: number
  /** For a whole request. Then 408. */
  readonly requestMs: number
  /** For a connection without a request. */
  readonly keepAliveMs: number
  /** For the client to read more of a response that is waiting. */
  readonly unreadMs: number
  readonly connections: number
  /** Of one client: an IPv4 address, or the /64 of an IPv6 one. Undefined: no limit. */
  readonly peerConnections?: number | undefined
  /** Whether an address is a proxy, whose connections belong to many clients and are not counted as one. */
  readonly isProxy?: (address: string) => boolean
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  unreadMs: 30_000,
  connections: 10_000,
}

const LIMITS_REACHED = ['total', 'peer'] as const
const refusedTotal = new Counter({
  name: 'restante_http_connections_refused_total',
  help: 'Connections closed on arrival because a connection limit was reached',
  labelNames: ['limit'],
})
for (const limit of LIMITS_REACHED) refusedTotal.inc({ limit }, 0)
const openConnections = new Gauge({
  name: 'restante_http_connections',
  help: 'Open connections of all HTTP ports of the process, WebSockets included',
})

/** The limits that Node's server enforces itself. */
export function serverLimits({ headersMs, requestMs, keepAliveMs }: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    // A client may exceed its limit by up to this checking interval.
    connectionsCheckingInterval: Math.min(5_000, headersMs / 4),
  }
}

/** Closes connections beyond the limits on arrival, before anything is read from them. */
export function limitConnections(server: Server, { connections, peerConnections, isProxy }: ConnectionLimits): void {
  server.maxConnections = connections
  server.on('drop', () => refusedTotal.inc({ limit: 'total' }))
  server.on('connection', (socket: Duplex) => {
    openConnections.inc()
    socket.once('close', () => openConnections.dec())
  })
  limitCarried(server, connections)
  if (peerConnections === undefined) return
  const peers = new PeerLimit(peerConnections)
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
    if (isProxy?.(address)) return
    if (peers.enter(address)) {
      socket.once('close', () => peers.leave(address))
      return
    }
    refusedTotal.inc({ limit: 'peer' })
    socket.destroy()
  })
}

/** Node counts the connections that it accepts, and not those that come over links. */
function limitCarried(server: Server, connections: number): void {
  let carried = 0
  server.prependListener('connection', (connection: Duplex) => {
    if (connection instanceof Socket) return
    carried++
    connection.once('close', () => carried--)
    if (carried <= connections) return
    refusedTotal.inc({ limit: 'total' })
    connection.destroy()
  })
}

/**
 * Closes the connection of a client that does not read its response. Time spent producing the response does not count:
 * only unread data does, and the time starts again with each part that is read.
 */
export function closeIfUnread(response: ServerResponse, { unreadMs }: ConnectionLimits): void {
  response.setTimeout(unreadMs, () => {
    const { socket } = response
    if (socket !== null && socket.writableLength > 0) socket.destroy()
  })
}

/**
 * When a response is sent before the end of its request, the rest of the request is dropped for a moment: no reset
 * overtakes the response, and a short rest does not cost the connection. A client that goes on sending is disconnected.
 */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request
  if (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined) return
  response.once('finish', () => {
    // A handler that stopped reading left the request paused, and the connection's next request is queued behind it.
    request.resume()
    if (request.complete) return
    const cut = setTimeout(() => {
      if (!request.complete) socket.destroy()
    }, LINGER_MS)
    // Listens on the request, not on the connection: a kept connection would collect a listener with each such request.
    request.once('close', () => clearTimeout(cut))
  })
}
