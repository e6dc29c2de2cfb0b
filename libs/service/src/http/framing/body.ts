import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestContract } from '@restante/contracts/operations'
import { ApiError } from '../../errors/api-error.ts'
import { BufferBuilder } from './buffer-builder.ts'
import { malformed } from './message-framing.ts'
import { RawHttpError } from './raw-http-error.ts'

type BodyLimit = RequestContract['bodyLimit']

/**
 * Reads a body of at most the operation's limit into memory.
 * @param count called with the number of bytes as they arrive; throws when there is no room for them.
 * @throws ApiError or RawHttpError 413, at once where the length is declared; ApiError 400 for a compressed body: it
 * could expand to a thousand times what was sent.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: BodyLimit,
  count: (bytes: number) => void,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw compressed()
  requireDeclaredLength(request, limit)
  sendContinue(request, response)
  const body = new BufferBuilder(Number(request.headers['content-length'] ?? 0))
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      try {
        if (body.size + chunk.length > limit.bytes) throw bodyTooLarge(limit)
        count(chunk.length)
        body.add(chunk)
      } catch (refusal) {
        // The rest is dropped: the answer is already on its way.
        request.removeAllListeners('data').resume()
        reject(refusal)
      }
    })
    request.once('end', () => resolve(body.take()))
    request.once('close', () => reject(malformed('The body ended too early')))
  })
}

/** Whether a message has a body, according to its header (RFC 9112 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
}

/** @throws the refusal of a body whose declared length is above its operation's limit. */
export function requireDeclaredLength(request: IncomingMessage, limit: BodyLimit): void {
  if (Number(request.headers['content-length'] ?? 0) > limit.bytes) throw bodyTooLarge(limit)
}

/** Sends 100 Continue to a client that waits for it before sending its body (RFC 9110 10.1.1). */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
}

function compressed(): ApiError {
  const message = 'A body cannot be compressed'
  return new ApiError('validation_error', {
    fix: 'Send the body as it is, without Content-Encoding.',
    errors: [{ path: ['headers', 'content-encoding'], message }],
  })
}

/** The error for a body above its operation's limit, in the form that the operation declares. */
function bodyTooLarge(limit: BodyLimit): Error {
  if (limit.answer === 'infrastructure') return new RawHttpError(413, 'Request Too Long')
  return new ApiError('payload_too_large', { fix: `Send at most ${limit.bytes} bytes.` })
}
