import ipaddr from 'ipaddr.js'
import type { RefusalReason } from './errors.ts'

export interface AllowedAddresses {
  /** 127.0.0.0/8 and ::1. */
  readonly loopback?: boolean
  /** Networks in CIDR form that are allowed although they are not public. */
  readonly networks?: readonly string[]
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = [Address, number]

/** Addresses where clouds serve credentials. Refused even inside an allowed network. */
const METADATA = [
  '169.254.169.254', // Amazon, Google, Microsoft, and most others
  '169.254.170.2', // Amazon, containers
  'fd00:ec2::254', // Amazon, IPv6
  '100.100.100.200', // Alibaba
  '192.0.0.192', // Oracle
  '168.63.129.16', // Microsoft, the host's agent; a public address
].map((address) => ipaddr.process(address).toNormalizedString())

/** What IANA has assigned as global unicast (RFC 4291 2.4); the rest of IPv6 has special purposes. */
const GLOBAL_IPV6: Network = [ipaddr.parse('2000::'), 3]

/**
 * Decides which addresses a request for a user may reach: public unicast, and what the installation allows in addition.
 */
export class AddressPolicy {
  readonly #networks: readonly Network[]

  /** @throws Error when a network is not in CIDR form. */
  constructor(allow: AllowedAddresses = {}) {
    const loopback = allow.loopback ? ['127.0.0.0/8', '::1/128'] : []
    this.#networks = [...loopback, ...(allow.networks ?? [])].map((network) => ipaddr.parseCIDR(network))
  }

  /** Whether any non-public address is allowed: a development machine, or a closed network. */
  get local(): boolean {
    return this.#networks.length > 0
  }

  /** @returns why the address (without brackets) is refused, or undefined when it is allowed. */
  refusal(text: string): RefusalReason | undefined {
    if (!ipaddr.isValid(text)) return 'reserved'
    const address = effectiveAddress(ipaddr.process(text))
    if (METADATA.includes(address.toNormalizedString())) return 'metadata'
    if (this.#networks.some((network) => isWithin(address, network))) return undefined
    return reasonOf(address)
  }
}

/**
 * The address that a packet finally reaches. `ipaddr.process` has unpacked ::ffff:a.b.c.d; 64:ff9b::a.b.c.d is IPv4
 * behind a translator (RFC 6052), which is how a public IPv4 host is reached from a network without IPv4.
 */
function effectiveAddress(address: Address): Address {
  if (!isIpv6(address) || address.range() !== 'rfc6052') return address
  const bytes = address.toByteArray()
  // 64:ff9b:1::/48 (RFC 8215) is local to a network and is left as it is: refused.
  return bytes.slice(4, 12).every((byte) => byte === 0) ? ipaddr.fromByteArray(bytes.slice(12)) : address
}

function reasonOf(address: Address): RefusalReason | undefined {
  switch (address.range()) {
    case 'unicast':
      return !isIpv6(address) || isWithin(address, GLOBAL_IPV6) ? undefined : 'reserved'
    case 'loopback':
      return 'loopback'
    case 'private':
    case 'uniqueLocal':
      return 'private'
    case 'linkLocal':
      return 'link-local'
    case 'carrierGradeNat':
      return 'shared'
    case 'multicast':
    case 'broadcast':
      return 'multicast'
    case 'unspecified':
      return 'unspecified'
    default:
      // Tunnels that may end anywhere (6to4, Teredo), documentation, benchmarking, and unassigned ranges.
      return 'reserved'
  }
}

function isIpv6(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6'
}

function isWithin(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}
