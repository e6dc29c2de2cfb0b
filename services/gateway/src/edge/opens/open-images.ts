import type { IncomingMessage } from 'node:http'
import { UpstreamError } from '@restante/service/errors'
import type { Exchange, ServiceClient } from '@restante/service/http'

export interface OpenImagesOptions {
  readonly mailSend: ServiceClient<'gateway'>
  /** Address of the client. */
  readonly peerOf: (request: IncomingMessage) => string
}

/** Path of the images in sent mail, followed by a token. */
const PATH = '/o/'
const TOKEN = /^[\w-]{43}$/
const METHODS = 'GET, HEAD'
/** The image waits for its record at most this long. */
const RECORD_MS = 1_000
/** One transparent pixel. */
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const HEADERS = {
  'content-type': 'image/gif',
  'content-length': GIF.length,
  // Each reading is to ask again; only the first one counts.
  'cache-control': 'no-store',
  // Mail programs on the web show the image on pages of their own origin.
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

/**
 * The image that tells of the opening of a message (mail 15.4). Every request gets the image, whether its token is valid and
 * whether the opening could be recorded: a reader sees no broken image, and a stranger cannot find out which tokens exist.
 * Requests are not limited by address, because providers load the images of all their users from few addresses. A forged
 * token fails at its MAC and costs no query.
 */
export class OpenImages {
  readonly #options: OpenImagesOptions

  constructor(options: OpenImagesOptions) {
    this.#options = options
  }

  matches({ path }: Exchange): boolean {
    return path.startsWith(PATH)
  }

  async serve(exchange: Exchange): Promise<void> {
    const { request, response, path } = exchange
    exchange.facts['operation'] = 'open'
    if (!METHODS.split(', ').includes(request.method ?? '')) {
      response.writeHead(405, { allow: METHODS, 'content-length': 0 }).end()
      return
    }
    if (request.method === 'GET') await this.#record(exchange, path.slice(PATH.length))
    response.writeHead(200, HEADERS)
    response.end(request.method === 'HEAD' ? undefined : GIF)
  }

  async #record(exchange: Exchange, token: string): Promise<void> {
    const { peerOf, mailSend } = this.#options
    exchange.facts['peer'] = peerOf(exchange.request)
    if (!TOKEN.test(token)) return
    try {
      await mailSend.call('mail-send.recordOpen', { token }, RECORD_MS)
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      exchange.log.warn({ err: error }, 'opening could not be recorded')
    }
  }
}
