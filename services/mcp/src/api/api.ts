import { context, propagation } from '@opentelemetry/api'
import {
  type OperationDefinition,
  type OperationId,
  operations,
  PREFIX,
  type Replayed,
  type ResponseOf,
} from '@restante/contracts/operations'
import { ApiError, UpstreamError } from '@restante/service/errors'
import type { Dispatcher } from 'undici'
import { camelCase } from '../answers/document.ts'
import { ApiFailure } from './failure.ts'

/** Most bytes of an answer. The largest are messages whose bodies are. */
const MOST_BYTES = 16 * 1_024 * 1_024
/** What an answer may have without being counted: a wait reads many small ones, which are gone at once. */
const UNCOUNTED_BYTES = 64 * 1_024
/** Longest answer of an operation that does not wait on purpose, in milliseconds. */
const TIMEOUT_MS = 60_000

/** Values of a request, by their names on the wire; what is undefined is left out. */
export interface ApiRequest {
  /** Narrows the request to an inbox, by its address or client_id. */
  readonly inboxId?: string | undefined
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  /** Ends a request that waits on purpose before its answer. */
  readonly until?: AbortSignal
}

/** The document of an answer. That it is replayed is said by its status alone. */
export type DocumentOf<Id extends OperationId> = Exclude<ResponseOf<Id>, Replayed<unknown>>

export interface ApiOptions {
  readonly dispatcher: Dispatcher
  /** Base URL of the public API. */
  readonly url: string
  /** `Authorization` of the caller. */
  readonly authorization: string
  /** Address of the caller, as the gateway has determined it; '' when it is not known. */
  readonly client: string
  /** Of the call that the requests are made for, so that their log lines can be found together. */
  readonly requestId: string
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
  /** Counts the bytes of large answers, which stay in memory until the call is answered. @throws ApiError 503 */
  readonly count: (bytes: number) => void
}

interface RequestOptions {
  readonly timeoutMs: number
  readonly body?: string | undefined
  readonly until?: AbortSignal | undefined
}

/** The public API, as one caller. Every check is made there: scope, permissions, limits. */
export class Api {
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.#options = options
  }

  /** @throws ApiFailure when the API refuses the request, UpstreamError when there is no answer. */
  async call<Id extends OperationId>(
    id: Id,
    { inboxId, params = {}, query = {}, body, until }: ApiRequest,
  ): Promise<DocumentOf<Id>> {
    const operation: OperationDefinition = operations[id]
    const prefix = inboxId === undefined ? PREFIX.organization : PREFIX.inbox
    const path = filled(`${prefix}${operation.path}`, {
      ...params,
      ...(inboxId !== undefined && { inbox_id: inboxId }),
    })
    const { status, text } = await this.#request(operation.method, `${path}${search(query)}`, {
      timeoutMs: TIMEOUT_MS + (operation.waits ?? 0),
      body: operation.body === undefined ? undefined : JSON.stringify(body ?? {}),
      until,
    })
    if (status === 204) return undefined as DocumentOf<Id>
    return parsed(status, text) as DocumentOf<Id>
  }

  /** The text that a link of the API leads to, which is a public URL. @throws ApiFailure */
  async read(link: string): Promise<string> {
    const { pathname, search: query } = new URL(link)
    const { status, text } = await this.#request('GET', `${pathname}${query}`, { timeoutMs: TIMEOUT_MS })
    if (status !== 200) throw failure(status, text)
    return text
  }

  async #request(
    method: OperationDefinition['method'],
    path: string,
    { timeoutMs, body, until }: RequestOptions,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { dispatcher, url, authorization, client, requestId, signal, count } = this.#options
    const base = new URL(url)
    const headers: Record<string, string> = { authorization, 'x-request-id': requestId }
    // As of any proxy, the gateway believes it where the address of this service is one of TRUSTED_PROXIES.
    if (client !== '') headers['x-forwarded-for'] = client
    if (body !== undefined) headers['content-type'] = 'application/json'
    propagation.inject(context.active(), headers)
    try {
      const answer = await dispatcher.request({
        origin: base.origin,
        path: `${base.pathname === '/' ? '' : base.pathname}${path}`,
        method,
        headers,
        body: body ?? null,
        signal: until === undefined ? signal : AbortSignal.any([signal, until]),
        headersTimeout: timeoutMs,
      })
      return { status: answer.statusCode, text: await textOf(answer.body, count) }
    } catch (cause) {
      if (cause instanceof ApiFailure || cause instanceof ApiError) throw cause
      throw new UpstreamError('the API did not answer', { cause })
    }
  }
}

async function textOf(body: AsyncIterable<Uint8Array>, count: (bytes: number) => void): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > MOST_BYTES)
      throw new ApiFailure(502, { code: 'too_large', message: 'The answer is too large for a tool' })
    if (bytes > UNCOUNTED_BYTES) count(chunk.length)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parsed(status: number, text: string): unknown {
  if (status < 200 || status > 299) throw failure(status, text)
  return JSON.parse(text)
}

function failure(status: number, text: string): ApiFailure {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return new ApiFailure(status, { ...body })
  } catch {
    // A proxy on the way has answered in another form.
  }
  return new ApiFailure(status, { message: `The API answered ${status}` })
}

/** @throws ApiError 404 for what is no id: with it a path would lead somewhere else, or could not be written. */
function filled(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const id = params[name] ?? ''
    // A proxy on the way takes dots for steps in the path, even encoded ones (RFC 3986 6.2.2.3).
    if (/^\.{0,2}$/.test(id) || id.includes('\0') || !id.isWellFormed()) throw nothingWith(name, id)
    return encodeURIComponent(id)
  })
}

function nothingWith(name: string, id: string): ApiError {
  return new ApiError('not_found', {
    message: `There is nothing with the ${camelCase(name)} ${JSON.stringify(id.slice(0, 100))}`,
    fix: 'Give an id as a list or a search has shown it.',
  })
}

/** Lists are written as repeated parameters. */
function search(query: Readonly<Record<string, unknown>>): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) given.append(name, String(each))
  }
  return given.size === 0 ? '' : `?${given}`
}
