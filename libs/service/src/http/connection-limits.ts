import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Counter } from 'prom-client'
import { PeerLimit } from '../connections/peer-limit.ts'
import { LINGER_MS } from './socket-answer.ts'

/** How long a peer may keep a connection waiting, in milliseconds, and how many connections there may be. */
export interface ConnectionLimits {
  /** For the head of a request, from the first byte; for a new connection from its beginning. Then 408. */
  readonly headersMs: number
  /** For a whole request. Then 408. */
  readonly requestMs: number
  /** Without a request. */
  readonly keepAliveMs: number
  /** For taking any more of an answer that waits. */
  readonly unreadMs: number
  readonly connections: number
  /** Of one peer: an IPv4 address, or the /64 of an IPv6 one. Undefined: as many as there are. */
  readonly peerConnections?: number | undefined
  /** Whether an address is that of a proxy, whose connections are those of many peers and are not counted as one's. */
  readonly isProxy?: (address: string) => boolean
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  unreadMs: 30_000,
  connections: 10_000,
}

const refusedTotal = new Counter({
  name: 'http_connections_refused_total',
  help: 'Connections closed at once because there were too many',
  labelNames: ['limit'],
})

/** What of the limits Node's server keeps by itself. */
export function serverLimits({ headersMs, requestMs, keepAliveMs }: ConnectionLimits): ServerOptions {
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    keepAliveTimeout: keepAliveMs,
    // Between two looks a peer may keep a connection longer than it should, by as much.
    connectionsCheckingInterval: Math.min(5_000, headersMs / 4),
  }
}

/** Closes connections beyond the limits as they come, before anything is read from them. */
export function limitConnections(server: Server, { connections, peerConnections, isProxy }: ConnectionLimits): void {
  server.maxConnections = connections
  server.on('drop', () => refusedTotal.inc({ limit: 'total' }))
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

/**
 * Cuts a peer that does not take its answer. An answer that is slow to come is no fault of the peer: only what waits to
 * be read counts, and time starts again with each part that is.
 */
export function demandReading(response: ServerResponse, { unreadMs }: ConnectionLimits): void {
  response.setTimeout(unreadMs, () => {
    const { socket } = response
    if (socket !== null && socket.writableLength > 0) socket.destroy()
  })
}

/**
 * When an answer came before the end of its request, the rest is dropped for a moment: so no reset overtakes the answer,
 * and a short rest does not cost the connection. A peer that goes on sending is cut.
 */
export function dropRest(request: IncomingMessage, response: ServerResponse): void {
  const { socket, headers } = request
  if (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined) return
  response.once('finish', () => {
    // One who began to read it and stopped has left it paused, and the next request of the connection behind it.
    request.resume()
    if (request.complete) return
    const cut = setTimeout(() => {
      if (!request.complete) socket.destroy()
    }, LINGER_MS)
    // Not the connection's: one that is kept would gather a listener with each such request.
    request.once('close', () => clearTimeout(cut))
  })
}
