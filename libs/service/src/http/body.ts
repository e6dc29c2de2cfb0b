import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestContract } from '@restante/contracts'
import { ApiError } from './api-error.ts'
import { BareRefusal } from './bare-refusal.ts'
import { malformed } from './message-form.ts'

type BodyLimit = RequestContract['bodyLimit']

/**
 * Reads a body of at most the operation's limit into memory.
 * @throws ApiError or BareRefusal 413, at once where the length is declared; BareRefusal 415 for a compressed body: what
 *   it holds could be a thousand times what was sent.
 */
export async function readBody(request: IncomingMessage, response: ServerResponse, limit: BodyLimit): Promise<Buffer> {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw new BareRefusal(415, 'Unsupported Media Type', { 'accept-encoding': 'identity' })
  demandDeclaredLength(request, limit)
  askForBody(request, response)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit.bytes) return void chunks.push(chunk)
      // What still comes is dropped: the answer is on its way.
      chunks.length = 0
      request.removeAllListeners('data').resume()
      reject(bodyTooLarge(limit))
    })
    request.once('end', () => resolve(Buffer.concat(chunks, size)))
    request.once('close', () => reject(malformed('The body ended too early')))
  })
}

/** @throws the refusal of a body whose declared length is above its operation's limit. */
export function demandDeclaredLength(request: IncomingMessage, limit: BodyLimit): void {
  if (Number(request.headers['content-length'] ?? 0) > limit.bytes) throw bodyTooLarge(limit)
}

/** Asks for the body that a peer holds back until somebody wants it (RFC 9110 10.1.1). */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect !== undefined && request.httpVersion === '1.1') response.writeContinue()
}

/** The refusal of a body above its operation's limit, in the form that the operation declares. */
function bodyTooLarge(limit: BodyLimit): Error {
  if (limit.answer === 'infrastructure') return new BareRefusal(413, 'Request Too Long')
  return new ApiError('payload_too_large', { fix: `Send at most ${limit.bytes} bytes.` })
}
