import type { IncomingMessage } from 'node:http'
import { CHALLENGE_TOKEN } from '@restante/contracts/internal'
import type { Exchange, ServiceClient } from '@restante/service/http'
import type { OpenImages } from '../opens/open-images.ts'
import type { RateLimits } from '../rate-limits/rate-limits.ts'
import { trackingHostName } from './host-name.ts'
import type { TrackingHosts } from './hosts.ts'

export interface ReaderPagesOptions {
  readonly hosts: TrackingHosts
  readonly openImages: OpenImages
  readonly owner: ServiceClient<'gateway'>
  readonly limits: RateLimits
  /** Address of the client. */
  readonly peerOf: (request: IncomingMessage) => string
}

/** Path of the answers to HTTP-01 challenges (RFC 8555 8.3), followed by the token. */
const CHALLENGE = '/.well-known/acme-challenge/'

/** What tracking hosts serve to readers of mail and to the certificate authority, and nothing else. */
export class ReaderPages {
  readonly #options: ReaderPagesOptions

  constructor(options: ReaderPagesOptions) {
    this.#options = options
  }

  /** On the port of HTTPS: the images that tell of opening. */
  readonly serveSecure = async (exchange: Exchange): Promise<void> => {
    const { openImages } = this.#options
    if (openImages.matches(exchange)) await openImages.serve(exchange)
    else notHere(exchange)
  }

  /** On the port of HTTP: answers to challenges; for images, the way to HTTPS. */
  readonly servePlain = async (exchange: Exchange): Promise<void> => {
    const { request, path } = exchange
    const host = hostOf(request)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (host === undefined || !isRead) return notHere(exchange)
    if (path.startsWith(CHALLENGE)) return this.#answerChallenge(exchange, host, path.slice(CHALLENGE.length))
    if (this.#options.openImages.matches(exchange)) return this.#redirect(exchange, host)
    notHere(exchange)
  }

  async #answerChallenge(exchange: Exchange, host: string, token: string): Promise<void> {
    const { limits, owner, peerOf } = this.#options
    exchange.facts['operation'] = 'acme-challenge'
    if (!CHALLENGE_TOKEN.test(token)) return notHere(exchange)
    const peer = peerOf(exchange.request)
    exchange.facts['peer'] = peer
    await limits.admitChallenge(peer)
    const { key_authorization: answer } = await owner.call('domains-dns.findChallenge', { host, token })
    if (answer === undefined) return notHere(exchange)
    const headers = { 'content-type': 'application/octet-stream', 'content-length': Buffer.byteLength(answer) }
    exchange.response.writeHead(200, { ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    exchange.response.end(exchange.request.method === 'HEAD' ? undefined : answer)
  }

  /** Only to hosts that have a certificate: a redirect to whatever host a client names would serve others' links. */
  async #redirect(exchange: Exchange, host: string): Promise<void> {
    exchange.facts['operation'] = 'open'
    if ((await this.#options.hosts.contextOf(host)) === undefined) return notHere(exchange)
    const location = `https://${host}${exchange.path}`
    exchange.response.writeHead(301, { location, 'content-length': 0 }).end()
  }
}

/** The host that a request names, without its port; undefined when no tracking host has such a name. */
function hostOf({ headers }: IncomingMessage): string | undefined {
  return trackingHostName(headers.host?.replace(/\.?(:\d+)?$/, '') ?? '')
}

function notHere({ response }: Exchange): void {
  response.writeHead(404, { 'content-length': 0, 'cache-control': 'no-store' }).end()
}
