import type { IncomingMessage } from 'node:http'
import type { Attributes } from '@opentelemetry/api'

/** The segments of a path after which a link holds its secret (`/v0/files/{token}`, `/u/{token}`). */
export const BEFORE_SECRETS: ReadonlySet<string> = new Set(['files', 'draft-files', 'calendar-feeds', 'u'])

/**
 * What a trace may show of the URL of an incoming request: no query, which may hold a key or a download's token, and no
 * path beyond a link's secret. An undefined attribute is left out.
 */
export function incomingUrl({ url = '' }: Pick<IncomingMessage, 'url'>): Attributes {
  const segments = url.replace(/[?#].*$/s, '').split('/')
  const secret = segments.findIndex(isBeforeSecret)
  const shown = secret < 0 ? segments : segments.slice(0, secret + 1)
  return { 'url.query': undefined, 'url.path': shown.join('/') }
}

/**
 * What a trace may show of the URL of an outgoing request in addition to the host and port that the instrumentation
 * records: nothing. The paths and queries of webhooks and attachments are chosen by customers and are credentials. The
 * path of an internal request is on the span of the service that answers.
 */
export function outgoingUrl(): Attributes {
  return { 'url.full': undefined, 'url.path': undefined, 'url.query': undefined }
}

/**
 * Decodes as the routes do, which decode each segment. A segment that cannot be decoded matches no route; nothing after
 * it is shown.
 */
function isBeforeSecret(segment: string): boolean {
  try {
    return BEFORE_SECRETS.has(decodeURIComponent(segment).toLowerCase())
  } catch {
    return true
  }
}
