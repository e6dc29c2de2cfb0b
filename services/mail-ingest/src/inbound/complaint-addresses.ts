import { isValidAddress, normalizeAddress } from '@restante/mime'

/** Domains whose reports are believed, by the address that was registered with their providers. */
export type ComplaintAddresses = ReadonlyMap<string, ReadonlySet<string>>

const DOMAIN = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/

/**
 * Reads `fbl@mail.example=feedback.provider.example/arf.other.example`, an address and the domains that may write to it.
 * @returns undefined when one of them has another form, or an address is named twice.
 */
export function complaintAddressesFrom(words: readonly string[]): ComplaintAddresses | undefined {
  const read = new Map<string, ReadonlySet<string>>()
  for (const word of words) {
    const at = word.lastIndexOf('=')
    const address = normalizeAddress(word.slice(0, Math.max(0, at)))
    const domains = word
      .slice(at + 1)
      .toLowerCase()
      .split('/')
    if (!isValidAddress(address) || read.has(address) || !domains.every((domain) => DOMAIN.test(domain)))
      return undefined
    read.set(address, new Set(domains))
  }
  return read
}

/**
 * Whether a report to a registered address is one of a provider that it was registered with.
 * @param authenticated domains of the report for which SPF or DKIM passed
 */
export function isFromProvider(
  addresses: ComplaintAddresses,
  given: string,
  authenticated: readonly string[],
): boolean {
  const providers = addresses.get(normalizeAddress(given))
  return providers !== undefined && authenticated.some((domain) => providers.has(domain.toLowerCase()))
}
