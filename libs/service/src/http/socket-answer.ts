import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** How long a peer that was answered may go on sending before it is cut. */
export const LINGER_MS = 1_000

export interface SocketAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly requestId?: string
}

/**
 * Answers on a bare socket, where no request could be made of what came or where it will not be an HTTP request any
 * more, and ends the connection: nobody knows where a next request would begin.
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
 * Lets go of a peer that was answered. What it still sends is read, so that no reset overtakes the answer; one that
 * does not hang up by itself is cut.
 */
export function hangUp(socket: Duplex): void {
  socket.resume()
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
}
