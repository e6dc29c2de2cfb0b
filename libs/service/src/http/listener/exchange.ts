import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { REQUEST_ID } from '@restante/contracts/vocabulary'
import type { Logger } from '../../telemetry/logger.ts'
import type { BodyMemoryLimiter } from '../framing/body-memory-limiter.ts'

/** What the log line and the metrics of one request report; handlers add facts as they learn them. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly log: Logger
  /** Raw path without the query. */
  readonly path: string
  readonly search: string
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal
  /** Resolves when the response was handed over, or its client has disconnected: what it holds is free by then. */
  readonly over: Promise<void>
  /** Memory limiter shared by the bodies of all requests of the listener. */
  readonly bodies: BodyMemoryLimiter
  /** The whole body, where it had to be read before the request was admitted; it cannot be read again. */
  received: Buffer | undefined
  /** SHA-256 that the body must have, according to the token of the gateway (`bodyDigest`). */
  expectedBody: string | undefined
  /** Members of the wide log line: operation, organization, credential, outcome. Never content. */
  readonly facts: Record<string, string | number | boolean>
}

/**
 * @param listener provides the logger for the exchange's lines, with its request id, and the memory limiter for its
 * body.
 */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  listener: { readonly log: Logger; readonly bodies: BodyMemoryLimiter },
): Exchange {
  return new OpenExchange(request, response, listener)
}

/** Creates lazily what most requests never need. */
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
  #over: Promise<void> | undefined

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

  get over(): Promise<void> {
    this.#over ??= endOf(this.response)
    return this.#over
  }
}

async function endOf(response: ServerResponse): Promise<void> {
  if (!response.closed) await new Promise<void>((resolve) => response.once('close', resolve))
}

function abortedBy(response: ServerResponse): AbortSignal {
  // The client may have disconnected before the signal was first used.
  if (response.closed) return response.writableFinished ? new AbortController().signal : AbortSignal.abort()
  const abort = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) abort.abort()
  })
  return abort.signal
}

/** The client's own request id, where it is a valid one (identity 1.2); otherwise a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/** The type of a JSON document. */
export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends one JSON document, with `no-store` because every answer depends on the caller. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  // A string is written together with the header; a buffer would be a second write and cost half as much again.
  sendText(response, status, JSON.stringify(body))
}

/** Sends the text of one JSON document, as `sendJson` does. */
export function sendText(response: ServerResponse, status: number, text: string | Buffer): void {
  response.statusCode = status
  response.setHeader('content-type', JSON_TYPE)
  response.setHeader('cache-control', 'no-store')
  response.setHeader('content-length', Buffer.byteLength(text))
  response.end(text)
}
