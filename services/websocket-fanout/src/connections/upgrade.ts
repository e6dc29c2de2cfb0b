import { randomUUID } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Caller } from '@restante/contracts/access'
import { LIMITS } from '@restante/contracts/vocabulary'
import { answerOnSocket } from '@restante/service/http'
import { CALLER_HEADER, InvalidTokenError, verifyCaller } from '@restante/service/identity'
import type { Logger } from '@restante/service/telemetry'
import { WebSocketServer } from 'ws'
import type { TakeOvers } from '../log/take-overs.ts'
import type { KeyWatch } from './admission/key-watch.ts'
import type { StreamQuota } from './admission/quota.ts'
import type { Answers } from './answers.ts'
import { CLOSE } from './closes/close-codes.ts'
import { Connection } from './connection.ts'
import { FrameCounter } from './frame-counter.ts'
import type { Hub } from './hub.ts'

export interface UpgradeOptions {
  readonly callerKey: string
  readonly hub: Hub
  readonly quota: StreamQuota
  readonly keys: KeyWatch
  readonly answers: Answers
  readonly takeOvers: TakeOvers
  readonly log: Logger
}

/** Opens streams that the gateway has admitted: each upgrade carries a caller token for `stream.connect`. */
export function streamUpgrade(
  options: UpgradeOptions,
): (request: IncomingMessage, socket: Duplex, head: Buffer) => void {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: LIMITS.stream.frame,
    perMessageDeflate: false,
  })
  // A handshake that is not a WebSocket handshake.
  server.on('wsClientError', (_error, socket) => refuse(socket, 400))
  return (request, socket, head) => {
    open(server, options, request, socket, head).catch((error: unknown) => {
      options.log.error({ err: error }, 'stream could not be opened')
      refuse(socket, 500)
    })
  }
}

async function open(
  server: WebSocketServer,
  options: UpgradeOptions,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  const { hub, quota, log } = options
  // Until the handshake is done, no other listener handles errors of the socket.
  socket.on('error', (error) => log.debug({ reason: error.message }, 'stream socket failed'))
  const caller = await admit(request, options.callerKey)
  if (!caller || caller.credential.provisional) return refuse(socket, 403)
  const requestId = headerOf(request, 'x-request-id') ?? randomUUID()
  const connectionId = randomUUID()
  if (!(await quota.acquire(caller.organization_id, connectionId, hub.count(caller.organization_id)))) {
    return refuse(socket, 429, { 'retry-after': '5' })
  }
  socket.once('close', () => void quota.release(connectionId))
  if (socket.destroyed) return quota.release(connectionId)
  const facts = { request_id: requestId, organization_id: caller.organization_id, credential_id: caller.credential.id }
  server.handleUpgrade(request, socket, head, (webSocket) => {
    const begun = Date.now()
    const connection = new Connection({
      socket: webSocket,
      caller,
      requestId,
      log: log.child(facts),
      answer: options.answers.answer,
    })
    // Registered before the WebSocket's own listener, so that frames beyond the rate are not answered.
    const frames = new FrameCounter()
    socket.prependListener('data', (chunk: Buffer) => connection.count(frames.begunIn(chunk)))
    hub.add(connection)
    // Admitted before a take-over and opened after its entry, which closes only streams that are open.
    if (options.takeOvers.isSuperseded(caller)) connection.close(CLOSE.policy, 'API key revoked')
    void options.keys.check(caller.credential.id)
    webSocket.once('close', (code) => {
      hub.remove(connection)
      log.info({ ...facts, code, ms: Date.now() - begun }, 'stream ended')
    })
  })
}

async function admit(request: IncomingMessage, callerKey: string): Promise<Caller | undefined> {
  try {
    const token = headerOf(request, CALLER_HEADER) ?? ''
    return (await verifyCaller(token, callerKey, 'websocket-fanout', 'stream.connect')).caller
  } catch (error) {
    if (error instanceof InvalidTokenError) return undefined
    throw error
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Refuses a handshake in the form that clients expect (events 6.1). */
function refuse(socket: Duplex, status: number, headers: Record<string, string> = {}): void {
  answerOnSocket(socket, { status, body: { message: STATUS_CODES[status] ?? 'Refused' }, headers })
}
