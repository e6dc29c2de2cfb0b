import { lookup, Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { OutboundNetworkError } from './errors.ts'

const QUERY = { timeout: 2_500, tries: 2 }

/** More addresses than any client would try; a zone may contain thousands. */
const MAX_ADDRESSES = 8

/**
 * Resolves names by querying DNS directly. The system's resolver is not used for users' names: each of its lookups
 * occupies one of few threads that every connection of the process needs, so slow names would block the process; and it
 * would try the search domains of the local network.
 */
export class NameResolver {
  readonly #dns = new Resolver(QUERY)
  readonly #system: boolean

  /**
   * @param options.servers DNS servers; without any, those of the system.
   * @param options.system whether names unknown to DNS may be resolved by the system (a hosts file).
   */
  constructor(options: { servers?: readonly string[] | undefined; system: boolean }) {
    if (options.servers && options.servers.length > 0) this.#dns.setServers(options.servers)
    this.#system = options.system
  }

  /** @throws OutboundNetworkError when there are none. */
  async resolve(hostname: string): Promise<string[]> {
    const name = hostname.replace(/\.$/, '')
    // RFC 6761 6.3: must never be queried in DNS.
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([this.#dns.resolve4(name), this.#dns.resolve6(name)])
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value.slice(0, MAX_ADDRESSES) : [],
    )
    if (addresses.length > 0) return addresses
    if (this.#system) return systemAddresses(name)
    const failure = answers.find((answer) => answer.status === 'rejected')
    throw new OutboundNetworkError(codeOf(failure?.reason))
  }
}

async function systemAddresses(name: string): Promise<string[]> {
  try {
    const found = await lookup(name, { all: true })
    return found.map(({ address }) => address)
  } catch (error) {
    throw new OutboundNetworkError(codeOf(error))
  }
}

/** The code of a network failure, for people: `ENOTFOUND`, `ECONNREFUSED`, `CERT_HAS_EXPIRED`, ... */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'cause' in error ? codeOf(error.cause) : 'UNKNOWN'
}

export function familyOf(address: string): 4 | 6 {
  return isIPv6(address) ? 6 : 4
}
