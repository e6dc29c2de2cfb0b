import type { IncomingMessage } from 'node:http'
import type { UnsubscribeState } from '@restante/contracts/internal'
import { UpstreamError } from '@restante/service/errors'
import { type Exchange, hasBody, readBody, type ServiceClient } from '@restante/service/http'
import type { RateLimits } from '../rate-limits/rate-limits.ts'
import { type Page, render } from './page.ts'

export interface UnsubscribeOptions {
  readonly mailSend: ServiceClient<'gateway'>
  readonly limits: RateLimits
  /** Address of the client. */
  readonly peerOf: (request: IncomingMessage) => string
}

/** Path of the links in sent mail, followed by a token. */
const PATH = '/u/'
const BODY = { bytes: 4_096, answer: 'infrastructure' } as const
const METHODS = 'GET, HEAD, POST'

/**
 * The page behind the link of a `List-Unsubscribe` field (mail 15.5). No key, no cookie: the link itself is the proof.
 * Reading it changes nothing, because mail scanners open every link; a POST as RFC 8058 has it, which the button of the
 * page sends as well, unsubscribes, and is answered directly, because a redirect would make a GET of it.
 */
export class UnsubscribePages {
  readonly #options: UnsubscribeOptions

  constructor(options: UnsubscribeOptions) {
    this.#options = options
  }

  matches({ path }: Exchange): boolean {
    return path.startsWith(PATH)
  }

  async serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange
    exchange.facts['operation'] = 'unsubscribe'
    if (!METHODS.split(', ').includes(request.method ?? '')) {
      response.writeHead(405, { allow: METHODS, 'content-length': 0 }).end()
      return
    }
    const { status, headers, body } = render(await this.#pageFor(exchange))
    response.writeHead(status, headers)
    response.end(request.method === 'HEAD' ? undefined : body)
  }

  async #pageFor(exchange: Exchange): Promise<Page> {
    try {
      return await this.#answer(exchange)
    } catch (error) {
      if (error instanceof UpstreamError) {
        exchange.log.warn({ err: error }, 'unsubscribe request could not be carried out')
        return { kind: 'later' }
      }
      throw error
    }
  }

  /** @throws ApiError 429 for too many requests with one link, or with unknown ones. */
  async #answer(exchange: Exchange): Promise<Page> {
    const { limits, peerOf, mailSend } = this.#options
    const { request, path } = exchange
    const token = path.slice(PATH.length)
    const peer = peerOf(request)
    exchange.facts['peer'] = peer
    await limits.admitUnsubscribe(token, peer)
    const confirmed = request.method === 'POST'
    if (confirmed && !(await isOneClick(exchange))) return { kind: 'incomplete' }
    const { unsubscribe } = confirmed
      ? await mailSend.call('mail-send.unsubscribe', { token })
      : await mailSend.call('mail-send.findUnsubscribe', { token })
    if (unsubscribe !== undefined) return pageOf(unsubscribe)
    await limits.countUnknownLink(peer)
    return { kind: 'unknown' }
  }
}

function pageOf({ recipient, suppressed }: UnsubscribeState): Page {
  return { kind: suppressed ? 'done' : 'ask', recipient }
}

/** Whether the body is that of RFC 8058 3.1, as a form of either kind: anything else was not meant for this link. */
async function isOneClick({ request, response }: Exchange): Promise<boolean> {
  if (!hasBody(request)) return false
  const body = await readBody(request, response, BODY, () => {})
  const form = await readForm(request, body)
  return form?.get('List-Unsubscribe') === 'One-Click'
}

async function readForm(request: IncomingMessage, body: Buffer): Promise<FormData | undefined> {
  const type = request.headers['content-type'] ?? ''
  return new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData().catch(() => undefined)
}
