import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../errors/api-error.ts'
import { RawHttpError } from './raw-http-error.ts'

/**
 * Finds defects that the parser accepts but that intermediaries may interpret differently, which allows request
 * smuggling. The connection must be closed after the refusal.
 * @returns ApiError 400; RawHttpError 505 for an unsupported HTTP version; undefined when the message is fine.
 */
export function findFramingError(request: IncomingMessage): Error | undefined {
  const { httpVersion, rawHeaders, headers } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return new RawHttpError(505, 'HTTP Version Not Supported')
  const hosts = count('host', rawHeaders)
  // RFC 9112 3.2
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return malformed('A request must name exactly one Host')
  const coding = headers['transfer-encoding']
  if (coding === undefined) return undefined
  // RFC 9112 6.1: other codings cannot be decoded here, and HTTP/1.0 has none.
  const known = httpVersion === '1.1' && coding.toLowerCase() === 'chunked'
  return known ? undefined : malformed('The only Transfer-Encoding is chunked')
}

/** A 400 about the message as a whole. */
export function malformed(message: string, cause?: unknown): ApiError {
  return new ApiError('validation_error', { message, errors: [{ path: [], message }], cause })
}

/** The response to an error of the parser. */
export function unreadable(error: Error): Error {
  switch ('code' in error ? error.code : undefined) {
    case 'HPE_HEADER_OVERFLOW':
      return new RawHttpError(431, 'Request Header Fields Too Large')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RawHttpError(408, 'Request Timeout')
    default:
      return malformed('This is not a valid HTTP request', error)
  }
}

/** `headers` merges repeated headers, so the raw lines are counted. */
function count(name: string, rawHeaders: readonly string[]): number {
  let found = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) found++
  }
  return found
}
