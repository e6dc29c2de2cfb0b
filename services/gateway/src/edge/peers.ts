import type { IncomingMessage } from 'node:http'
import { isIP, SocketAddress } from 'node:net'
import proxyaddr from 'proxy-addr'

const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i

/**
 * Who is at the other end of a request. What a client says of itself is not believed: `X-Forwarded-For` counts only as
 * far back as the addresses in it are proxies of ours.
 */
export class Peers {
  readonly #isProxy: ((address: string, distance: number) => boolean) | undefined

  /** @param trustedProxies addresses and networks (CIDR) of the proxies in front. */
  constructor(trustedProxies: readonly string[]) {
    this.#isProxy = trustedProxies.length === 0 ? undefined : proxyaddr.compile([...trustedProxies])
  }

  /** The address of the peer in its one spelling; '' when it has gone already. */
  of(request: IncomingMessage): string {
    const connected = plain(request.socket.remoteAddress ?? '')
    if (this.#isProxy === undefined || !this.isProxy(connected)) return connected
    return canonical(proxyaddr(request, this.#isProxy)) ?? connected
  }

  /** Whether connections from this address carry requests of many peers. */
  readonly isProxy = (address: string): boolean => this.#isProxy?.(plain(address), 0) ?? false
}

function plain(address: string): string {
  return address.replace(MAPPED_IPV4, '')
}

/** Undefined for what is no address: then the proxy that wrote it is all that is known. */
function canonical(address: string): string | undefined {
  const version = isIP(address)
  if (version === 4) return address
  // A zone names an interface of the machine that wrote it.
  if (version === 0 || address.includes('%')) return undefined
  return plain(new SocketAddress({ address, family: 'ipv6' }).address)
}
