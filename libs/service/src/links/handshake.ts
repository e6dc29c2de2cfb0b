import { request } from 'node:http'
import type { ServiceName } from '@restante/contracts/vocabulary'
import { UpstreamError } from '../errors/infrastructure.ts'
import { SERVICE_HEADER, TokenMint, verifyService } from '../identity/tokens.ts'
import { Link, type LinkOptions } from './link.ts'

/** The name of the protocol in `Upgrade`. Another form of the records has another name. */
export const LINK_PROTOCOL = 'restante-link-1'
/** What the token of a request for a link is for. No operation: a service that knows no links answers 404. */
const PURPOSE = 'link'
const PATH = '/internal/link'

export interface LinkRequest {
  readonly from: ServiceName
  readonly to: ServiceName
  /** Base URL of the other service. */
  readonly url: string
  /** The key that the two services share. */
  readonly key: string
  readonly timeoutMs: number
  readonly onClose: LinkOptions['onClose']
}

/**
 * Opens a link to another service, on which this one opens channels.
 * @throws UpstreamError when the service cannot be reached, does not answer in time, or refuses.
 */
export function requestLink({ from, to, url, key, timeoutMs, onClose }: LinkRequest): Promise<Link> {
  const token = new TokenMint(to, key).service(PURPOSE, from)
  const headers = { connection: 'Upgrade', upgrade: LINK_PROTOCOL, [SERVICE_HEADER]: token }
  return new Promise((resolve, reject) => {
    // A connection of its own: one that was kept would lead to the process that has refused a link on it.
    const outgoing = request(new URL(PATH, url), { headers, agent: false })
    const fail = (cause: unknown): void => reject(new UpstreamError(`no link to ${to}`, { cause }))
    const silence = setTimeout(() => outgoing.destroy(new Error('no answer in time')), timeoutMs)
    outgoing.once('close', () => clearTimeout(silence))
    outgoing.once('error', fail)
    outgoing.once('response', ({ statusCode: status }) => {
      outgoing.destroy()
      fail(new Error(`answered ${status}`))
    })
    outgoing.once('upgrade', (_answer, socket, head) => resolve(new Link({ socket, head, onClose })))
    outgoing.end()
  })
}

/** Answers a request for a link, on which the other service opens channels. */
export function acceptLink(options: LinkOptions & Required<Pick<LinkOptions, 'accept'>>): Link {
  options.socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${LINK_PROTOCOL}\r\n\r\n`)
  return new Link(options)
}

/**
 * The service that requests a link.
 * @param keys the key shared with each service that may do so.
 * @throws InvalidTokenError
 */
export function verifyLinkRequest(
  headers: NodeJS.Dict<string | string[]>,
  keys: Readonly<Partial<Record<ServiceName, string>>>,
  audience: ServiceName,
): Promise<ServiceName> {
  return verifyService(String(headers[SERVICE_HEADER] ?? ''), keys, audience, PURPOSE)
}
