import type { IncomingMessage } from 'node:http'
import { type Duplex, pipeline } from 'node:stream'
import { LIMITS } from '@restante/contracts/vocabulary'
import { answerOnSocket, hangUp } from '@restante/service/http'
import { Counter } from 'prom-client'
import { WebSocketServer } from 'ws'
import { passesBack } from './proxy/proxied-response.ts'

export const handshakesTotal = new Counter({
  name: 'restante_gateway_stream_handshakes_total',
  help: 'Requests for a stream by status; 101: the stream is open. Where the trouble passes (5xx, and 429 for a rate limit), the handshake is completed and the stream closed with 1013',
  labelNames: ['status'],
})
for (const status of [101, 403, 429, 500, 503]) handshakesTotal.inc({ status }, 0)

/** The close code for trouble that passes. Never 1000, which clients take as final (events 6.4). */
const TRY_AGAIN_LATER = 1013

/** A request for a stream, on the socket of its client. */
export interface Handshake {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** The first bytes after the request. */
  readonly head: Buffer
  readonly requestId: string
}

/** Why a stream is not opened. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

export const UNAVAILABLE: Refusal = {
  status: 503,
  message: 'Service temporarily unavailable',
  headers: { 'Retry-After': '1' },
}

/** Refuses a handshake. The answer has the infrastructure's form of an error: only a message (events 6.1). */
export function refuse({ socket, requestId }: Handshake, { status, message, headers = {} }: Refusal): void {
  handshakesTotal.inc({ status })
  answerOnSocket(socket, { status, body: { message }, headers, requestId })
}

/**
 * Opens a stream only to close it with 1013, because of trouble that passes: the public TypeScript client reconnects
 * after every close but 1000, and gives up for good when the handshake of a reconnect is refused (events 12.1). A
 * request that is no WebSocket handshake is refused.
 */
export function postpone(handshake: Handshake, refusal: Refusal): void {
  const { request, socket, head, requestId } = handshake
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: LIMITS.stream.frame,
    perMessageDeflate: false,
  })
  server.once('wsClientError', () => refuse(handshake, refusal))
  server.once('headers', (headers) => headers.push(`X-Request-Id: ${requestId}`))
  server.handleUpgrade(request, socket, head, (stream) => {
    handshakesTotal.inc({ status: refusal.status })
    // Without a listener, an invalid frame of the client would end the process.
    stream.on('error', () => {})
    stream.close(TRY_AGAIN_LATER, refusal.message)
    hangUp(socket)
  })
}

/** Status line and headers of a response as the service sent them, and `more`. */
export function headOf(answer: IncomingMessage, more: string, passes: (name: string) => boolean = () => true): string {
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

/** Passes on the refusal of the stream service, for example of one connection too many. */
export function passRefusal(answer: IncomingMessage, { socket, requestId }: Handshake): void {
  handshakesTotal.inc({ status: answer.statusCode ?? 0 })
  socket.write(headOfRefusal(answer, requestId))
  pipeline(answer, socket, () => hangUp(socket))
}
