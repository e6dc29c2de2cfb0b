import { isIPv6 } from 'node:net'

/** Open connections per client: an IPv4 address, or the /64 from which one IPv6 host can choose its addresses. */
export class PeerLimit {
  readonly #limit: number
  readonly #open = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** @returns whether the connection may stay; if so, `leave` must be called once at its end. */
  enter(address: string): boolean {
    const peer = networkOf(address)
    const open = this.#open.get(peer) ?? 0
    if (open >= this.#limit) return false
    this.#open.set(peer, open + 1)
    return true
  }

  leave(address: string): void {
    const peer = networkOf(address)
    const open = (this.#open.get(peer) ?? 0) - 1
    if (open > 0) this.#open.set(peer, open)
    else this.#open.delete(peer)
  }
}

/**
 * The key that counts as one client: an IPv4 address, or the /64 of an IPv6 host, as its four groups.
 * @param address normalized: no IPv4-mapped prefix, IPv6 in lower case with zeroes compressed.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail = ''] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === '' ? [] : tail.split(':')
  const missing = address.includes('::') ? 8 - groups.length - rest.length : 0
  return [...groups, ...Array.from({ length: missing }, () => '0'), ...rest].slice(0, 4).join(':')
}
