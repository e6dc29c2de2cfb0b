import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIMITS } from '@restante/contracts/vocabulary'
import compression from 'compression'

const compress = compression({ threshold: LIMITS.request.compressAbove })

/** Compresses the response for clients that accept it; small bodies and binary types are not compressed. */
export function compressFor(request: IncomingMessage, response: ServerResponse): void {
  const accepted = request.headers['accept-encoding']
  if (accepted === undefined || !accepted.includes('gzip')) return
  compress(request, response, () => {})
}
