import type { IncomingMessage } from 'node:http'
import type { Attributes } from '@opentelemetry/api'

/** The segment of a path after which a link to a file holds its secret (`/v0/files/{token}`). */
const FILES = 'files'

/**
 * What a trace may show of the address of a request that came in: no query, which may hold a key or a download's token,
 * and no path from a link's secret on. An attribute that is undefined is left out.
 */
export function incomingUrl({ url = '' }: Pick<IncomingMessage, 'url'>): Attributes {
  const segments = url.replace(/[?#].*$/s, '').split('/')
  const secret = segments.findIndex(isFiles)
  const shown = secret < 0 ? segments : segments.slice(0, secret + 1)
  return { 'url.query': undefined, 'url.path': shown.join('/') }
}

/**
 * What a trace may show of the address of a request that goes out, besides the host and port that the instrumentation
 * notes: nothing. Webhooks and attachments have addresses of customers' making, whose paths and queries are credentials.
 * The path within the installation is on the span of the service that answers.
 */
export function outgoingUrl(): Attributes {
  return { 'url.full': undefined, 'url.path': undefined, 'url.query': undefined }
}

/** As the routes read it, which decode each segment. One that cannot be decoded is no route's; nothing after it is shown. */
function isFiles(segment: string): boolean {
  try {
    return decodeURIComponent(segment).toLowerCase() === FILES
  } catch {
    return true
  }
}
