import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import express from 'express'
import { Counter, Histogram, register } from 'prom-client'
import { isInfrastructureError } from '../database/errors.ts'
import type { Part } from '../process/part.ts'
import type { Logger } from '../telemetry/logger.ts'
import { ApiError } from './api-error.ts'
import { RequestTooLarge } from './decode.ts'

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
  /** Members of the wide log line: operation, organization, credential, outcome. Never content. */
  readonly facts: Record<string, string | number | boolean>
}

/** What `/readyz` asks: names of parts with reasons, empty when there are none (`Service`). */
export interface Health {
  problems(): Promise<Record<string, string>>
  degradations(): Promise<Record<string, string>>
}

export interface ListenerOptions {
  readonly port: number
  readonly host: string
  readonly log: Logger
  /** Base of the `docs` links in errors. */
  readonly docsUrl: string
  /** Whether requests may come: the service itself. */
  readonly health: Health
  /** Answers a request, or throws what the answer must say. */
  readonly handle: (exchange: Exchange) => Promise<void>
  /** Takes over a WebSocket upgrade; without it upgrades are refused. */
  readonly upgrade?: (request: IncomingMessage, socket: Socket, head: Buffer) => void
  /** Serve `/metrics` on this listener. A public edge turns it off and serves it on a port of its own. */
  readonly metrics?: boolean
  /** Largest header block in bytes; above it 431. Default 48 KB: what the edge takes, and the token that it adds. */
  readonly headerBytes?: number
  /** How long `stop` waits for requests that run, in milliseconds. Default 10,000. */
  readonly drainMs?: number
}

const HEADER_BYTES = 48 * 1024
/** Connections that a shutdown finds busy get this long to become idle; then they are cut. */
const DRAIN_MS = 10_000
const DRAIN_STEP_MS = 50
const requestsTotal = new Counter({
  name: 'http_requests_total',
  help: 'Requests answered',
  labelNames: ['operation', 'status'],
})
const requestSeconds = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the request line to the end of the answer',
  labelNames: ['operation'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})

/** The HTTP front of a process: health, metrics, request ids, the error envelope, one log line per request, drain. */
export class HttpListener implements Part {
  readonly name = 'http'
  readonly #options: ListenerOptions
  readonly #server: Server
  readonly #answering = new Set<ServerResponse>()
  /** Sockets that were handed over and that the server closes no more by itself, though it waits for their end. */
  readonly #upgraded = new Set<Socket>()
  #draining = false

  constructor(options: ListenerOptions) {
    this.#options = options
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))
    app.get('/readyz', (_request, response) => this.#readiness(response))
    if (options.metrics !== false) {
      app.get(
        '/metrics',
        async (_request, response) => void response.type(register.contentType).send(await register.metrics()),
      )
    }
    app.use((request, response) => this.#serve(request, response))
    this.#server = createServer(
      {
        maxHeaderSize: options.headerBytes ?? HEADER_BYTES,
        requestTimeout: 120_000,
        headersTimeout: 20_000,
        keepAliveTimeout: 65_000,
        // Clients that offer HTTP/2 this way (`h2c`) are to be answered as if they did not (RFC 9110 7.8).
        shouldUpgradeCallback: (request) =>
          options.upgrade !== undefined && request.headers.upgrade?.toLowerCase() === 'websocket',
      },
      app,
    )
    // A connection that could not be accepted (too many open files) must not end the process.
    this.#server.on('error', (error) => options.log.error({ err: error }, 'the HTTP server failed'))
    this.#server.on('clientError', (error, socket) => this.#refuseUnreadable(error, socket))
    const { upgrade } = options
    if (upgrade) {
      this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        this.#upgraded.add(socket)
        socket.once('close', () => this.#upgraded.delete(socket))
        upgrade(request, socket, head)
      })
    }
  }

  /** The port it listens on; differs from the configured one when that was 0. */
  get port(): number {
    return addressOf(this.#server).port
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port, this.#options.host, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
  }

  /**
   * Takes no more connections and lets requests that run be answered, for as long as the drain may take. A connection
   * that is kept alive closes after its answer; one that never ends its request is cut.
   */
  async stop(): Promise<void> {
    this.#draining = true
    for (const response of this.#answering) closeAfter(response)
    const closed = promisify(this.#server.close.bind(this.#server))()
    // A connection that was busy a moment ago goes idle unnoticed, and would stay for its whole keep-alive time.
    const idle = setInterval(() => this.#server.closeIdleConnections(), DRAIN_STEP_MS)
    const cut = setTimeout(() => this.#cut(), this.#options.drainMs ?? DRAIN_MS)
    await closed.finally(() => {
      clearInterval(idle)
      clearTimeout(cut)
    })
  }

  /**
   * What no request could be made of: there is no handler to answer it, so the answer has the infrastructure's form
   * (identity 1.10). The connection ends, for nobody knows where the next request would begin.
   */
  #refuseUnreadable(error: Error, socket: Duplex): void {
    const answering = [...this.#answering].some((response) => response.socket === socket && response.headersSent)
    if (answering || !socket.writable) {
      socket.destroy()
      return
    }
    const code = 'code' in error ? error.code : undefined
    const status = code === 'HPE_HEADER_OVERFLOW' ? 431 : code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    const body = JSON.stringify({ message: STATUS_CODES[status] })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${body.length}`,
      `x-request-id: ${randomUUID()}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  }

  #cut(): void {
    this.#server.closeAllConnections()
    for (const socket of this.#upgraded) socket.destroy()
  }

  async #readiness(response: express.Response): Promise<void> {
    const [problems, degraded] = await Promise.all([
      this.#options.health.problems(),
      this.#options.health.degradations(),
    ])
    const ready = Object.keys(problems).length === 0
    response.status(ready ? 200 : 503).json({
      status: ready ? 'ready' : 'not ready',
      ...(!ready && { problems }),
      ...(Object.keys(degraded).length > 0 && { degraded }),
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begun = performance.now()
    const exchange = this.#exchange(request, response)
    const { facts, log } = exchange
    response.setHeader('x-request-id', exchange.requestId)
    if (this.#draining) closeAfter(response)
    this.#answering.add(response)
    response.once('close', () => {
      this.#answering.delete(response)
      const seconds = (performance.now() - begun) / 1000
      const operation = String(facts['operation'] ?? 'none')
      requestsTotal.inc({ operation, status: response.statusCode })
      requestSeconds.observe({ operation }, seconds)
      log.info(
        {
          method: request.method,
          status: response.statusCode,
          ms: Math.round(seconds * 10_000) / 10,
          aborted: !response.writableFinished,
          ...facts,
        },
        'request',
      )
    })
    try {
      await this.#options.handle(exchange)
    } catch (error) {
      this.#refuse(exchange, error)
    }
  }

  #exchange(request: IncomingMessage, response: ServerResponse): Exchange {
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    const requestId = acceptRequestId(request.headers['x-request-id'])
    const abort = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) abort.abort()
    })
    return {
      request,
      response,
      requestId,
      log: this.#options.log.child({ request_id: requestId }),
      path: mark < 0 ? url : url.slice(0, mark),
      search: mark < 0 ? '' : url.slice(mark + 1),
      signal: abort.signal,
      facts: {},
    }
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { response, log, facts } = exchange
    // The peer has gone: there is nobody to tell, and what that broke is no fault of ours.
    if (response.destroyed) return
    if (response.headersSent) {
      log.error({ err: error, ...facts }, 'failed after the answer had begun')
      response.destroy()
      return
    }
    if (error instanceof RequestTooLarge) {
      sendJson(response, 413, { message: error.message })
      return
    }
    const refusal = asApiError(error)
    if (refusal.status >= 500) log.error({ err: error, ...facts }, 'request failed')
    facts['code'] = refusal.code
    for (const [name, value] of Object.entries(refusal.headers())) response.setHeader(name, value)
    sendJson(response, refusal.status, refusal.body(this.#options.docsUrl))
  }
}

/** Tells the peer that this is the last answer on its connection, so that it sends no request into the closing. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

/** 5xx never carries internals: a broken dependency is 503, everything unforeseen 500. */
function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (isInfrastructureError(error)) return new ApiError('service_unavailable', { retryAfter: 1, cause: error })
  return new ApiError('internal_error', { cause: error })
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

function acceptRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()
}

function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The HTTP server is not listening')
  return address
}
