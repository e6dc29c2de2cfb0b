import type { IncomingMessage } from 'node:http'
import { UpstreamError } from '@restante/service/errors'
import type { Exchange, ServiceClient } from '@restante/service/http'
import type { RateLimits } from '../rate-limits/rate-limits.ts'
import { type Page, type Report, render } from './page.ts'

export interface DomainSetupOptions {
  readonly domains: ServiceClient<'gateway'>
  readonly limits: RateLimits
  /** Address of the client. */
  readonly peerOf: (request: IncomingMessage) => string
}

/** Path to which DNS providers send browsers back. */
const PATH = '/domain-setup/return'
/** Only GET: the state counts once, and a client that sends HEAD would not see the result. */
const METHODS = 'GET'
const STATE = /^[\w-]{43}$/
/** The owner of domains waits for a check of the records. */
const CALL_MS = 8_000
/** RFC 6749 4.1.2.1. */
const CODES: ReadonlySet<string> = new Set([
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'unsupported_response_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
])

/**
 * The page to which the DNS provider sends an owner back (domains 9). No key, no cookie: the state of the setup link is the
 * proof, and counts once. Of the query nothing is shown but a known word, and without a valid state nothing is revealed.
 */
export class DomainSetupPages {
  readonly #options: DomainSetupOptions

  constructor(options: DomainSetupOptions) {
    this.#options = options
  }

  matches({ path }: Exchange): boolean {
    return path === PATH
  }

  async serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange
    exchange.facts['operation'] = 'domain-setup'
    if (request.method !== METHODS) {
      response.writeHead(405, { allow: METHODS, 'content-length': 0 }).end()
      return
    }
    const { status, headers, body } = render(await this.#pageFor(exchange))
    response.writeHead(status, headers)
    response.end(body)
  }

  /** @throws ApiError 429 for a client that tries too many unknown states. */
  async #pageFor(exchange: Exchange): Promise<Page> {
    const { limits, peerOf } = this.#options
    const query = new URLSearchParams(exchange.search)
    const peer = peerOf(exchange.request)
    exchange.facts['peer'] = peer
    const page = await this.#complete(exchange, query)
    if (page.kind === 'unknown') await limits.countUnknownLink(peer)
    return page
  }

  async #complete(exchange: Exchange, query: URLSearchParams): Promise<Page> {
    const state = query.get('state') ?? ''
    if (!STATE.test(state)) return { kind: 'unknown' }
    try {
      const result = await this.#options.domains.call('domains-dns.completeSetup', { state }, CALL_MS)
      return result.outcome === 'returned'
        ? { kind: 'returned', result, report: reportOf(query) }
        : { kind: result.outcome }
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      exchange.log.warn({ err: error }, 'setup of a domain could not be completed')
      return { kind: 'later' }
    }
  }
}

function reportOf(query: URLSearchParams): Report {
  const code = query.get('error')
  if (code === null) return { kind: 'applied' }
  const cancelled = code === 'access_denied' && (query.get('error_description') ?? '').startsWith('user_cancel')
  return cancelled ? { kind: 'cancelled' } : { kind: 'failed', code: CODES.has(code) ? code : undefined }
}
