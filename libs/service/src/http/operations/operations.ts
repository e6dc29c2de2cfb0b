import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Caller } from '@restante/contracts/access'
import type {
  InternalOperationId,
  InternalOperationIdsOf,
  InternalRequestOf,
  InternalResponseOf,
} from '@restante/contracts/internal'
import {
  BINARY,
  type BinaryResponse,
  type Operation,
  type OperationId,
  type OperationIdsOf,
  Replayed,
  type RequestContract,
  type RequestOf,
  type ResponseOf,
  type UpgradeOperationId,
} from '@restante/contracts/operations'
import { decodeQuery } from '@restante/contracts/schemas'
import { MOST_PROBLEMS, validate, validateBody } from '@restante/contracts/validation'
import type { FieldError, ServiceName } from '@restante/contracts/vocabulary'
import { ApiError } from '../../errors/api-error.ts'
import { bodyDigest } from '../../identity/tokens.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { readBody } from '../framing/body.ts'
import type { YieldSlot } from '../framing/body-memory-limiter.ts'
import { accepted, readJsonObject } from '../framing/decode.ts'
import { type Exchange, JSON_TYPE, sendJson, sendText } from '../listener/exchange.ts'
import type { AdmittedCaller } from './admitted-caller.ts'
import { checkIdempotencyKey } from './idempotency-key.ts'
import { checkIfMatch, type IfMatch } from './if-match.ts'
import { StreamedJson, WrittenJson } from './written-json.ts'

/** What every handler gets in addition to its typed request. */
export interface RequestContext {
  readonly requestId: string
  readonly log: Logger
  readonly signal: AbortSignal
  /** Resolves when the response was handed over, or its client has disconnected. */
  readonly over: Promise<void>
  readonly idempotencyKey: string | undefined
  /** The `If-Match` header, where the operation has one. */
  readonly ifMatch: IfMatch | undefined
  /** Address of the client as the edge saw it. */
  readonly peer: string
  /** For slow work during which requests with large bodies must not wait. */
  readonly yieldSlot: YieldSlot
}

/** The type of the caller; `undefined` for operations without authentication. */
type CallerOf<Id extends OperationId> = Operation<Id>['authentication'] extends 'none'
  ? unknown
  : {
      readonly caller: Caller
      /**
       * The caller as of at most a second ago, for a handler that has waited before its effect.
       * @throws ApiError when the request would be refused by now; 503 when that cannot be determined.
       */
      readonly confirmCaller: () => Promise<Caller>
    }

/** A request that the gateway admitted: the caller, and the validated parts. */
export type OperationRequest<Id extends OperationId> = RequestOf<Id> & RequestContext & CallerOf<Id>
/** One operation's code: a typed request in, the typed document out. It knows nothing of HTTP. */
export type DocumentHandler<Id extends OperationId> = (request: OperationRequest<Id>) => Promise<ResponseOf<Id>>
/** The same, of which a few write the document themselves. */
export type Handler<Id extends OperationId> = (
  request: OperationRequest<Id>,
) => Promise<ResponseOf<Id> | WrittenJson<ResponseOf<Id>> | StreamedJson<ResponseOf<Id>>>
/** The handlers of a service: complete, or it does not compile. Upgrades are handled at the listener. */
export type Handlers<S extends ServiceName> = {
  readonly [Id in Exclude<OperationIdsOf<S>, UpgradeOperationId>]: Handler<Id>
}

/** An internal operation's code: it is given the name of the calling service. */
export type InternalHandler<Id extends InternalOperationId> = (
  request: RequestContext & { readonly body: InternalRequestOf<Id>; readonly from: ServiceName },
) => Promise<InternalResponseOf<Id>>
/** The internal handlers of a service: complete, or it does not compile. */
export type InternalHandlers<S extends ServiceName> = {
  readonly [Id in InternalOperationIdsOf<S>]: InternalHandler<Id>
}

/** A handler whose types are erased, as stored in the dispatch table. */
export type AnyHandler = (request: Record<string, unknown>) => Promise<unknown>

/**
 * Reads and validates one request for an operation (identity 1.11, step 7), runs its handler and sends the answer.
 * @param admitted the caller, for operations that need one: confirmed when a body has arrived and its turn has come.
 * @throws ApiError 400 with every problem of path, query, header and body at once.
 */
export function answer(
  operation: RequestContract,
  handler: AnyHandler,
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
  more: Record<string, unknown>,
  admitted?: AdmittedCaller,
): Promise<void> {
  const { request, response, bodies } = exchange
  const { body, bodyLimit } = operation
  const respond = (bytes: Buffer | undefined, yieldSlot: YieldSlot) =>
    answerBody(operation, handler, exchange, params, { more, admitted, bytes, yieldSlot })
  if (body === undefined) return respond(undefined, withoutSlot)
  const { received, expectedBody } = exchange
  if (received !== undefined) {
    const work = (yieldSlot: YieldSlot) => respond(received, yieldSlot)
    return bodies.process(received.length, work, exchange.signal)
  }
  return bodies.hold(ownerOf(exchange), async (count) => {
    const bytes = await readBody(request, response, bodyLimit, count)
    if (expectedBody !== undefined && bodyDigest(bytes) !== expectedBody) throw otherBody()
    const work = (yieldSlot: YieldSlot) => respond(bytes, yieldSlot)
    await bodies.process(bytes.length, work, exchange.signal)
  })
}

/** Between the gateway and this service the body was exchanged, or the token was used with another body. */
function otherBody(): ApiError {
  return new ApiError('unauthorized', { cause: new Error('the caller token was minted for another body') })
}

/**
 * The owner that a body's memory is counted for: an organization, a calling service, or one name for all
 * unauthenticated callers.
 */
function ownerOf({ facts }: Exchange): string {
  return String(facts['organization_id'] ?? facts['peer_service'] ?? 'unknown')
}

/** A request without a body holds no memory. */
const withoutSlot: YieldSlot = (slow) => slow()

interface Given {
  readonly more: Record<string, unknown>
  readonly admitted: AdmittedCaller | undefined
  readonly bytes: Buffer | undefined
  readonly yieldSlot: YieldSlot
}

async function answerBody(
  operation: RequestContract,
  handler: AnyHandler,
  exchange: Exchange,
  params: Readonly<Record<string, string>>,
  { more, admitted, bytes, yieldSlot }: Given,
): Promise<void> {
  // Before the fields of the body are validated: a caller without rights learns nothing else (identity 1.11).
  const caller = await admitted?.current()
  const problems: FieldError[] = []
  const parsedParams = accepted(validate(operation.params, params), problems)
  const query = accepted(validate(operation.query, decodeQuery(exchange.search)), problems)
  const idempotencyKey = operation.idempotencyKey
    ? checkIdempotencyKey(operation.idempotencyKey, exchange.request.headers['idempotency-key'], problems)
    : undefined
  const ifMatch =
    operation.etag === 'checked' ? checkIfMatch(exchange.request.headers['if-match'], problems) : undefined
  const body =
    operation.body &&
    bytes &&
    accepted(validateBody(operation.body, await readJsonObject(bytes, operation.body)), problems)
  if (problems.length > 0) throw new ApiError('validation_error', { errors: problems.slice(0, MOST_PROBLEMS) })
  const result = await handler({
    peer: peerOf(exchange),
    yieldSlot,
    ...more,
    ...(admitted !== undefined && { caller, confirmCaller: () => admitted.current() }),
    params: parsedParams,
    query,
    body,
    idempotencyKey,
    ifMatch,
    requestId: exchange.requestId,
    get log() {
      return exchange.log
    },
    get signal() {
      return exchange.signal
    },
    get over() {
      return exchange.over
    },
  })
  if (operation.response === BINARY) await sendBinary(operation, asBinary(result), exchange)
  // A slow client must not keep other bodies from being processed.
  else if (result instanceof StreamedJson) await yieldSlot(() => sendParts(operation, result.parts, exchange))
  else sendDocument(operation, result, exchange)
}

/** The gateway names the original client; only the gateway can reach the service, so the header is trusted. */
function peerOf(exchange: Exchange): string {
  const named = exchange.request.headers['x-restante-peer']
  return typeof named === 'string' ? named : (exchange.request.socket.remoteAddress ?? '')
}

function sendDocument(operation: RequestContract, result: unknown, { response }: Exchange): void {
  if (operation.response !== undefined) {
    if (result instanceof WrittenJson) {
      sendText(response, operation.status, result.bytes)
      return
    }
    const isReplayed = result instanceof Replayed
    const document: unknown = isReplayed ? result.document : result
    const etag = operation.etag && etagOf(document)
    if (etag !== undefined) response.setHeader('etag', etag)
    sendJson(response, isReplayed ? 200 : operation.status, document)
    return
  }
  response.statusCode = 204
  response.setHeader('cache-control', 'no-store')
  response.end()
}

async function sendParts(
  operation: RequestContract,
  parts: AsyncIterable<string>,
  { response }: Exchange,
): Promise<void> {
  const iterator = parts[Symbol.asyncIterator]()
  const first = await iterator.next()
  response.statusCode = operation.status
  response.setHeader('content-type', JSON_TYPE)
  response.setHeader('cache-control', 'no-store')
  const all = async function* () {
    if (!first.done) yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  await pipeline(all, response)
}

/** The entity tag in a document, or in the event that it is about. */
function etagOf(document: unknown): string | undefined {
  if (typeof document !== 'object' || document === null) return undefined
  if ('etag' in document && typeof document.etag === 'string') return document.etag
  return 'event' in document ? etagOf(document.event) : undefined
}

async function sendBinary(
  operation: RequestContract,
  { body, headers }: BinaryResponse,
  { response, request }: Exchange,
): Promise<void> {
  response.statusCode = operation.status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  const stream = body instanceof Readable ? body : Readable.from(body)
  if (request.method === 'HEAD') {
    stream.destroy()
    response.end()
    return
  }
  await pipeline(stream, response)
}

function isBinary(result: unknown): result is BinaryResponse {
  return typeof result === 'object' && result !== null && 'body' in result && 'headers' in result
}

function asBinary(result: unknown): BinaryResponse {
  if (isBinary(result)) return result
  throw new TypeError('A binary operation must answer with headers and a body')
}
