import { context, propagation } from '@opentelemetry/api'
import {
  type InternalOperationId,
  type InternalRequestOf,
  type InternalResponseOf,
  internalOperations,
  parseInternalResponse,
} from '@restante/contracts/internal'
import type { InternalOperationDefinition } from '@restante/contracts/operations'
import { ROUTE_NOT_FOUND, type ServiceName } from '@restante/contracts/vocabulary'
import { Agent } from 'undici'
import { withTimeLimit } from '../../concurrency/time-limit.ts'
import { UpstreamError } from '../../errors/infrastructure.ts'
import { SERVICE_HEADER, TokenMint } from '../../identity/tokens.ts'
import type { Component } from '../../process/component.ts'

export interface ServiceClientOptions<From extends ServiceName> {
  readonly from: From
  readonly to: ServiceName
  /** Base URL of the other service: `http://mail-ingest:3001`. */
  readonly url: string
  /** The key that the two services share. */
  readonly key: string
}

/** A permanent rejection by the other service: a 4xx of an internal operation, with the public error document. */
export class UpstreamRejectedError extends Error {
  override readonly name = 'UpstreamRejectedError'
  readonly status: number
  readonly code: string | undefined
  /** The service is of a release that does not have the operation; another replica, or a later release, may. */
  readonly isUnknownRoute: boolean
  constructor(operation: string, status: number, code: string | undefined, isUnknownRoute = false) {
    super(`${operation} was refused with ${status}${code === undefined ? '' : ` (${code})`}`)
    this.status = status
    this.code = code
    this.isUnknownRoute = isUnknownRoute
  }
}

/** A service that is overloaded for a moment answers within it; one that hangs holds its callers no longer. */
const DEFAULT_TIMEOUT_MS = 5_000
/** Rejections that a retry may avoid: request timeout, too many requests. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 429])

/** Calls the internal operations of one other service, with kept-alive connections and tokens of the calling service. */
export class ServiceClient<From extends ServiceName = ServiceName> implements Component {
  readonly name: string
  readonly stage = 'base'
  readonly #options: ServiceClientOptions<From>
  readonly #mint: TokenMint
  readonly #agent = new Agent({ keepAliveTimeout: 30_000, connections: 16, connect: { timeout: 2_000 } })

  constructor(options: ServiceClientOptions<From>) {
    this.name = `client of ${options.to}`
    this.#options = options
    this.#mint = new TokenMint(options.to, options.key)
  }

  /**
   * @param timeoutMs for the whole call; default 5 s.
   * @throws UpstreamError when the service cannot be reached, is too slow or too busy, or answers 5xx or no JSON;
   * UpstreamRejectedError on 4xx.
   */
  async call<Id extends InternalOperationId>(
    id: Id,
    request: InternalRequestOf<Id>,
    timeoutMs = DEFAULT_TIMEOUT_MS,
  ): Promise<InternalResponseOf<Id>> {
    const operation: InternalOperationDefinition = internalOperations[id]
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      [SERVICE_HEADER]: this.#mint.service(id, this.#options.from),
    }
    propagation.inject(context.active(), headers)
    const answer = await this.#send(operation, headers, JSON.stringify(request), timeoutMs)
    const { status } = answer
    if (status >= 500 || NOT_NOW.has(status)) throw new UpstreamError(`${id} answered ${status}`, { status })
    const document = parseJson(answer.text)
    if (status >= 400) throw new UpstreamRejectedError(id, status, codeOf(document), isUnknownRoute(status, document))
    if (document === undefined) throw new UpstreamError(`${id} returned a response that is not JSON`, { status })
    return parseInternalResponse(id, document)
  }

  async #send(
    operation: InternalOperationDefinition,
    headers: Record<string, string>,
    body: string,
    timeoutMs: number,
  ): Promise<{ status: number; text: string }> {
    try {
      return await withTimeLimit(timeoutMs, [], async (signal) => {
        const { statusCode, body: answer } = await this.#agent.request({
          origin: this.#options.url,
          path: operation.path,
          method: operation.method,
          headers,
          body,
          signal,
        })
        return { status: statusCode, text: await answer.text() }
      })
    } catch (cause) {
      throw new UpstreamError(`${operation.id} of ${this.#options.to} did not answer`, { cause })
    }
  }

  async stop(): Promise<void> {
    await this.#agent.close()
  }
}

/** `undefined` when the text is not JSON: then an intermediary has answered, not the service. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isUnknownRoute(status: number, document: unknown): boolean {
  const isDocument = typeof document === 'object' && document !== null && 'message' in document
  return status === 404 && isDocument && document.message === ROUTE_NOT_FOUND
}

function codeOf(document: unknown): string | undefined {
  return typeof document === 'object' && document !== null && 'code' in document ? String(document.code) : undefined
}
