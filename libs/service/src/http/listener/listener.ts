import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import express from 'express'
import { Counter, Histogram, register } from 'prom-client'
import { notFound } from '../../errors/api-error.ts'
import type { Component } from '../../process/component.ts'
import { REQUEST_LINE } from '../../telemetry/log-output.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { BodyMemoryLimiter } from '../framing/body-memory-limiter.ts'
import { findFramingError, unreadable } from '../framing/message-framing.ts'
import { originForm } from '../framing/request-target.ts'
import { answerOnSocket } from '../framing/socket-answer.ts'
import {
  CONNECTION_LIMITS,
  type ConnectionLimits,
  closeIfUnread,
  discardRest,
  limitConnections,
  serverLimits,
} from './connection-limits.ts'
import { type Exchange, openExchange, requestIdOf, sendJson } from './exchange.ts'
import { createHttpServer, type FindSecureContext } from './http-server.ts'
import { refusalOf } from './refusal.ts'
import { isOnSocket, isUpgrade, passUpgrade, type UpgradeOptions } from './upgrades.ts'

/** What `/readyz` reports: names of components with reasons, empty when there are none (`Service`). */
export interface Health {
  problems(): Promise<Record<string, string>>
  degradations(): Promise<Record<string, string>>
}

export interface ListenerOptions extends UpgradeOptions {
  readonly port: number
  readonly host: string
  readonly log: Logger
  /** Base of the `docs` links in errors. */
  readonly docsUrl: string
  /** Readiness of the service itself. */
  readonly health: Health
  /** Answers a request, or throws the error that determines the answer. */
  readonly handle: (exchange: Exchange) => Promise<void>
  /**
   * The clients of the port, which determine what it shows: `/readyz` names reasons to all but the public, only
   * operators get `/metrics`, and readers of mail get none of these paths. Default: services.
   */
  readonly audience?: 'public' | 'services' | 'operators' | 'readers'
  /** Serves HTTPS with these certificates. Without it the port serves HTTP. */
  readonly secureContextOf?: FindSecureContext
  /** Largest header block in bytes; above it 431. Default 48 KB: what the edge accepts, plus the token that it adds. */
  readonly headerBytes?: number
  /** How long `stop` waits for running requests, in milliseconds. Default 10,000. */
  readonly drainMs?: number
  /** Connection limits; those left out have the defaults of the configuration. */
  readonly limits?: Partial<ConnectionLimits>
}

const HEADER_BYTES = 48 * 1024
/** Connections that are busy at shutdown get this long to become idle; then they are closed. */
const DRAIN_MS = 10_000
const DRAIN_STEP_MS = 50
/** The paths that Express handles; it accounts for most of what an empty request costs. */
const PROCESS_PATHS = /^\/(healthz|readyz|metrics)\b/i
const requestsTotal = new Counter({
  name: 'restante_http_requests_total',
  help: 'Requests answered',
  labelNames: ['operation', 'status'],
})
const requestSeconds = new Histogram({
  name: 'restante_http_request_duration_seconds',
  help: 'Time from the request line to the end of the response',
  labelNames: ['operation'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
})

/**
 * The HTTP front end of a process: health, metrics, request ids, the error envelope, one log line per request, drain.
 */
export class HttpListener implements Component {
  readonly name: string
  readonly stage = 'front'
  readonly #options: ListenerOptions
  readonly #limits: ConnectionLimits
  readonly #server: Server
  readonly #bodies = new BodyMemoryLimiter()
  readonly #answering = new Set<ServerResponse>()
  /** Upgraded sockets, which the server waits for but no longer closes itself. */
  readonly #upgraded = new Set<Duplex>()
  /** Sockets that were answered with an error because no valid request arrived on them. */
  readonly #refused = new WeakSet<Duplex>()
  #draining = false

  constructor(options: ListenerOptions) {
    this.name = `${options.secureContextOf === undefined ? 'http' : 'https'} for ${options.audience ?? 'services'}`
    this.#options = options
    this.#limits = { ...CONNECTION_LIMITS, ...options.limits }
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }))
    app.get('/readyz', (_request, response) => this.#readiness(response))
    if (options.audience === 'operators') {
      app.get(
        '/metrics',
        async (_request, response) => void response.type(register.contentType).send(await register.metrics()),
      )
    }
    app.use((request, response) => this.#serve(request, response))
    this.#server = createHttpServer(options, {
      ...serverLimits(this.#limits),
      maxHeaderSize: options.headerBytes ?? HEADER_BYTES,
      // Checked together with the other malformed requests, and answered as JSON.
      requireHostHeader: false,
      shouldUpgradeCallback: (request) => isUpgrade(options, request),
    })
    limitConnections(this.#server, this.#limits)
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      if (!isOnSocket(request)) return
      request.url = originForm(request.url ?? '/')
      discardRest(request, response)
      closeIfUnread(response, this.#limits)
      const fault = findFramingError(request)
      if (fault === undefined && options.audience !== 'readers' && PROCESS_PATHS.test(request.url)) {
        response.setHeader('x-request-id', requestIdOf(request))
        app(request, response)
      } else void this.#serve(request, response, fault)
    }
    this.#server.on('request', take)
    // 100 Continue is sent by the code that reads the body: most refusals need no body.
    this.#server.on('checkContinue', take)
    this.#server.on('checkExpectation', (request, response) => {
      response.setHeader('x-request-id', requestIdOf(request))
      sendJson(response, 417, { message: 'Expectation Failed' })
    })
    // A connection that could not be accepted (too many open files) must not end the process.
    this.#server.on('error', (error) => options.log.error({ err: error }, 'HTTP server error'))
    this.#server.on('clientError', (error, socket) => this.#refuseUnreadable(error, socket))
    this.#server.on('connect', (request, socket) => this.#refuseOnSocket(socket, notFound('Route'), request))
    this.#server.on('upgrade', (request, socket: Duplex, head) => this.#upgrade(request, socket, head))
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
   * Accepts no more connections and lets running requests finish, for as long as the drain may take. A kept-alive
   * connection closes after its response; one that never ends its request is closed at the deadline.
   */
  async stop(): Promise<void> {
    this.#draining = true
    for (const response of this.#answering) closeAfter(response)
    const closed = promisify(this.#server.close.bind(this.#server))()
    // A connection that was busy a moment ago goes idle without notice, and would stay open for its whole keep-alive
    // time.
    const idle = setInterval(() => this.#server.closeIdleConnections(), DRAIN_STEP_MS)
    const cut = setTimeout(() => this.#cut(), this.#options.drainMs ?? DRAIN_MS)
    await closed.finally(() => {
      clearInterval(idle)
      clearTimeout(cut)
    })
  }

  /**
   * Handles input that could not be parsed as a request, so no handler can answer it. If a response has already begun,
   * anything more would be taken for a part of it.
   */
  #refuseUnreadable(error: Error, socket: Duplex): void {
    if (this.#refused.has(socket)) return
    const answering = [...this.#answering].some((response) => response.socket === socket && response.headersSent)
    if (answering) {
      socket.destroy()
      return
    }
    this.#refused.add(socket)
    this.#refuseOnSocket(socket, unreadable(error))
  }

  /** @param request the part of it that could be parsed, if any. */
  #refuseOnSocket(socket: Duplex, error: unknown, request?: IncomingMessage): void {
    socket.on('error', () => socket.destroy())
    const refusal = refusalOf(error, this.#options.docsUrl)
    answerOnSocket(socket, { ...refusal, ...(request && { requestId: requestIdOf(request) }) })
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#upgraded.add(socket)
    socket.once('close', () => this.#upgraded.delete(socket))
    request.url = originForm(request.url ?? '/')
    const fault = findFramingError(request)
    if (fault !== undefined) {
      this.#refuseOnSocket(socket, fault, request)
      return
    }
    passUpgrade(this.#options, this.#server, [request, socket, head])
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
    const isPublic = this.#options.audience === 'public'
    const shown = (reasons: Record<string, string>) => (isPublic ? withoutReasons(reasons) : reasons)
    if (!ready && isPublic) this.#options.log.warn({ problems }, 'not ready')
    response.status(ready ? 200 : 503).json({
      status: ready ? 'ready' : 'not ready',
      ...(!ready && { problems: shown(problems) }),
      ...(Object.keys(degraded).length > 0 && { degraded: shown(degraded) }),
    })
  }

  /** @param fault what is wrong with the message itself. */
  async #serve(request: IncomingMessage, response: ServerResponse, fault?: Error): Promise<void> {
    const begun = performance.now()
    const exchange = openExchange(request, response, { log: this.#options.log, bodies: this.#bodies })
    const { facts, requestId } = exchange
    response.setHeader('x-request-id', requestId)
    if (this.#draining || fault !== undefined) closeAfter(response)
    this.#answering.add(response)
    response.once('close', () => {
      this.#answering.delete(response)
      const seconds = (performance.now() - begun) / 1000
      const operation = String(facts['operation'] ?? 'none')
      requestsTotal.inc({ operation, status: response.statusCode })
      requestSeconds.observe({ operation }, seconds)
      this.#options.log.info(
        {
          request_id: requestId,
          method: request.method,
          status: response.statusCode,
          ms: Math.round(seconds * 10_000) / 10,
          aborted: !response.writableFinished,
          ...facts,
        },
        REQUEST_LINE,
      )
    })
    try {
      if (fault !== undefined) throw fault
      await this.#options.handle(exchange)
    } catch (error) {
      this.#refuse(exchange, error)
    }
  }

  #refuse(exchange: Exchange, error: unknown): void {
    const { response, log, facts } = exchange
    // The client has disconnected: no answer can be sent, and errors caused by that are not the service's.
    if (response.destroyed) return
    if (response.headersSent) {
      log.error({ err: error, ...facts }, 'request failed after the response had begun')
      response.destroy()
      return
    }
    const refusal = refusalOf(error, this.#options.docsUrl)
    if (refusal.status >= 500 && refusal.code !== undefined) log.error({ err: error, ...facts }, 'request failed')
    if (refusal.code !== undefined) facts['code'] = refusal.code
    for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value)
    sendJson(response, refusal.status, refusal.body)
  }
}

/** For a public edge: hosts, ports and errors of internal components must not be disclosed. */
function withoutReasons(reasons: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(reasons).map((part) => [part, 'see the log']))
}

/** Announces that this is the last response on its connection, so that the client sends no further request into it. */
function closeAfter(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close')
}

function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The HTTP server is not listening')
  return address
}
