import ipaddr from 'ipaddr.js'

/**
 * The network that one mail operator is assumed to hold: the /24 of an IPv4 address, the /48 of an IPv6 one, in CIDR
 * form. An IPv4-mapped IPv6 address counts as IPv4. Text that is not an address is returned unchanged.
 */
export function subnetOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? 24 : 48
  const bytes = parsed.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes)}/${bits}`
}

/**
 * Returns a test for membership in any of the given networks.
 * @param networks addresses and networks in CIDR form. @throws Error when an entry is neither.
 */
export function withinNetworks(networks: readonly string[]): (address: string) => boolean {
  const parsed = networks.map((text) => {
    if (text.includes('/')) return ipaddr.parseCIDR(text)
    const address = ipaddr.parse(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128] as const
  })
  return (address) => {
    if (!ipaddr.isValid(address)) return false
    const given = ipaddr.process(address)
    return parsed.some(([network, bits]) => given.kind() === network.kind() && given.match([network, bits]))
  }
}
