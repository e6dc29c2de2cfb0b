import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** How long a client that was answered may go on sending before it is disconnected. */
export const LINGER_MS = 1_000

export interface SocketAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly requestId?: string
}

/**
 * Answers on a bare socket, where the input could not be parsed as a request or the socket has left HTTP, and ends the
 * connection: the start of a next request could not be determined.
 */
export function answerOnSocket(socket: Duplex, { status, body, headers = {}, requestId }: SocketAnswer): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const text = JSON.stringify(body)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId ?? randomUUID()}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`)
  hangUp(socket)
}

/**
 * Ends a connection that was answered. Remaining input is read, so that no reset overtakes the answer; a client that
 * does not close its side is disconnected.
 */
export function hangUp(socket: Duplex): void {
  socket.resume()
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
}
