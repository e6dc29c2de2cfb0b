import type { IncomingMessage, Server } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LINK_PROTOCOL } from '../../links/handshake.ts'

/** A request for a link (`@restante/service/links`). */
export interface RequestedLink {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** The first bytes after the request. */
  readonly head: Buffer
  /** Serves a connection as if the port had accepted it, but upgrades only. */
  readonly serve: (connection: Duplex) => void
}

/** What takes over connections that leave HTTP. */
export interface UpgradeOptions {
  /** Takes over a WebSocket upgrade; without it they are answered as other requests. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Takes over a link, which carries connections to this port; without it requests for links are answered as others. */
  readonly link?: (requested: RequestedLink) => void
}

function isLink({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === LINK_PROTOCOL
}

/** Clients that offer HTTP/2 this way (`h2c`) are to be answered as if they did not (RFC 9110 7.8). */
export function isUpgrade({ upgrade, link }: UpgradeOptions, request: IncomingMessage): boolean {
  if (isLink(request)) return link !== undefined
  return upgrade !== undefined && request.headers.upgrade?.toLowerCase() === 'websocket'
}

/** Cuts a connection over a link on which a request is no upgrade: the times that a request may take are those of sockets. */
export function isOnSocket(request: IncomingMessage): boolean {
  const socket: Duplex = request.socket
  if (socket instanceof Socket) return true
  socket.destroy()
  return false
}

/** Gives an upgraded connection away. */
export function passUpgrade(
  { upgrade, link }: UpgradeOptions,
  server: Server,
  [request, socket, head]: [IncomingMessage, Duplex, Buffer],
): void {
  if (!isLink(request)) upgrade?.(request, socket, head)
  // A link over a link would have no socket of its own.
  else if (!(socket instanceof Socket)) socket.destroy()
  else link?.({ request, socket, head, serve: (connection) => void server.emit('connection', connection) })
}
