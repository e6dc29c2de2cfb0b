import { type Exchange, hasBody, readBody } from '@restante/service/http'
import { PublicError } from './public-error.ts'

const BODY = { bytes: 8_192, answer: 'infrastructure' } as const
const MEDIA_TYPE = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i

/**
 * Reads a call by a script of this origin (apps 7.2): JSON, sent by our own page. A form of another site can send neither
 * this type nor this `Origin`.
 * @throws PublicError 403 for another origin, 415 for another type, 400 for a body that is not one JSON object.
 */
export async function readPageCall(exchange: Exchange, authBase: string): Promise<Readonly<Record<string, unknown>>> {
  const { headersDistinct } = exchange.request
  const origins = headersDistinct['origin'] ?? []
  if (origins.length !== 1 || origins[0] !== authBase) {
    throw new PublicError(403, 'invalid_request', `Send this from a page of ${authBase}: Origin must name it`)
  }
  return readJson(exchange)
}

/**
 * Reads one JSON object, from whoever sends it.
 * @throws PublicError 400 or 415
 */
export async function readJson(exchange: Exchange): Promise<Readonly<Record<string, unknown>>> {
  const value = parseJson(await readJsonBytes(exchange))
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new PublicError(400, 'invalid_request', 'The body must be one JSON object')
}

/**
 * Reads a JSON text without parsing it.
 * @throws PublicError 415
 */
export async function readJsonBytes({ request, response }: Exchange): Promise<Buffer> {
  if (!MEDIA_TYPE.test(request.headers['content-type'] ?? '')) {
    throw new PublicError(415, 'invalid_request', 'Send Content-Type: application/json')
  }
  return hasBody(request) ? readBody(request, response, BODY, () => {}) : Buffer.alloc(0)
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    return undefined
  }
}
