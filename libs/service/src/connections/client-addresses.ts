import type { IncomingMessage } from 'node:http'
import { isIP, SocketAddress } from 'node:net'
import proxyaddr from 'proxy-addr'

const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i

/**
 * Determines the client of a request. A client's own statements are not believed: `X-Forwarded-For` counts only as far
 * back as its addresses are trusted proxies.
 */
export class ClientAddresses {
  readonly #isProxy: ((address: string, distance: number) => boolean) | undefined

  /** @param trustedProxies addresses and networks (CIDR) of the proxies in front. */
  constructor(trustedProxies: readonly string[]) {
    this.#isProxy = trustedProxies.length === 0 ? undefined : proxyaddr.compile([...trustedProxies])
  }

  /** The canonical address of the client; '' when it has disconnected already. */
  of(request: IncomingMessage): string {
    const connected = plain(request.socket.remoteAddress ?? '')
    if (this.#isProxy === undefined || !this.isProxy(connected)) return connected
    return canonical(proxyaddr(request, this.#isProxy)) ?? connected
  }

  /** Whether connections from this address carry requests of many clients. */
  readonly isProxy = (address: string): boolean => this.#isProxy?.(plain(address), 0) ?? false
}

function plain(address: string): string {
  return address.replace(MAPPED_IPV4, '')
}

/** Undefined when it is not an address: then only the proxy that wrote it is known. */
function canonical(address: string): string | undefined {
  const version = isIP(address)
  if (version === 4) return address
  // A zone names an interface of the machine that wrote it.
  if (version === 0 || address.includes('%')) return undefined
  return plain(new SocketAddress({ address, family: 'ipv6' }).address)
}
