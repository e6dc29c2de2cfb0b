import { asciiDomain, isValidAddress, normalizeAddress } from '../addresses/address.ts'

/** An entry of an allow or block list in the form in which it is stored and compared. */
export interface NamedEntry {
  readonly entry: string
  readonly entryType: 'email' | 'domain'
}

/**
 * Reads an entry of an allow or block list (mail 12.2): an address, or without `@` a domain of at least two labels, IDN
 * allowed. White space around it and one dot at the end of the domain are removed; it is folded to lower case, the
 * domain to ASCII.
 * @returns undefined when it is neither, such as an address with a display name.
 */
export function readListEntry(text: string): NamedEntry | undefined {
  const given = text.trim().replace(/\.$/, '')
  if (given.includes('@')) {
    return isValidAddress(given) ? { entry: normalizeAddress(given), entryType: 'email' } : undefined
  }
  const domain = asciiDomain(given.normalize('NFC').toLowerCase())
  return isValidAddress(`a@${domain}`) ? { entry: domain, entryType: 'domain' } : undefined
}
