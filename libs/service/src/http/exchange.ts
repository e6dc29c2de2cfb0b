import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { REQUEST_ID } from '@restante/contracts'
import type { Logger } from '../telemetry/logger.ts'
import type { BodyMemoryLimiter } from './body-memory-limiter.ts'

/** What the log line and the metrics of one request say; whoever handles the request fills it in as it learns more. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly log: Logger
  /** Raw path without the query. */
  readonly path: string
  readonly search: string
  /** Aborted when the peer goes away before the answer is complete. */
  readonly signal: AbortSignal
  /** What the bodies of all requests of the listener may take. */
  readonly bodies: BodyMemoryLimiter
  /** The whole body, where it had to be read before the request was admitted; it cannot be read again. */
  received: Buffer | undefined
  /** SHA-256 that the body must have, by the token of whoever passed the request on (`bodyDigest`). */
  expectedBody: string | undefined
  /** Members of the wide log line: operation, organization, credential, outcome. Never content. */
  readonly facts: Record<string, string | number | boolean>
}

/** @param listener whose log gets the exchange's lines, with its request id, and whose memory its body takes. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  listener: { readonly log: Logger; readonly bodies: BodyMemoryLimiter },
): Exchange {
  return new OpenExchange(request, response, listener)
}

/** Makes what most requests never ask for when it is first asked for. */
class OpenExchange implements Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly path: string
  readonly search: string
  readonly bodies: BodyMemoryLimiter
  readonly facts: Exchange['facts'] = {}
  received: Buffer | undefined
  expectedBody: string | undefined
  readonly #parentLog: Logger
  #log: Logger | undefined
  #signal: AbortSignal | undefined

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    listener: { readonly log: Logger; readonly bodies: BodyMemoryLimiter },
  ) {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    this.request = request
    this.response = response
    this.requestId = requestIdOf(request)
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.search = mark < 0 ? '' : url.slice(mark + 1)
    this.bodies = listener.bodies
    this.#parentLog = listener.log
  }

  get log(): Logger {
    this.#log ??= this.#parentLog.child({ request_id: this.requestId })
    return this.#log
  }

  get signal(): AbortSignal {
    this.#signal ??= abortedBy(this.response)
    return this.#signal
  }
}

function abortedBy(response: ServerResponse): AbortSignal {
  // The peer may have gone before anybody asked.
  if (response.closed) return response.writableFinished ? new AbortController().signal : AbortSignal.abort()
  const abort = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) abort.abort()
  })
  return abort.signal
}

/** The client's own, where it is a sane one (identity 1.2); otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** Sends one JSON document; `no-store`, because every answer depends on who asks. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  // As text it leaves in one write together with the head; bytes would be a second part, and cost half as much again.
  const text = JSON.stringify(body)
  response.statusCode = status
  response.setHeader('content-type', 'application/json; charset=utf-8')
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-length', Buffer.byteLength(text))
  response.end(text)
}
