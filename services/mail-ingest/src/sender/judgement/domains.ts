import { domainToASCII } from 'node:url'
import { getDomain } from 'tldts'
import type { Alignment } from './findings.ts'

/** The form in which domains are compared: lower case, ASCII, without the root's dot. */
export function canonicalDomain(domain: string): string {
  const text = domain.trim().toLowerCase()
  // Only for names that need it: for others the URL rules would turn `1` into `0.0.0.1`.
  const ascii = /[^\p{ASCII}]/u.test(text) ? domainToASCII(text) || text : text
  return ascii.replace(/\.+$/, '')
}

/** The domain of a bare address, in the form in which domains are compared. */
export function domainOf(address: string): string {
  return canonicalDomain(address.slice(address.lastIndexOf('@') + 1))
}

/**
 * The organizational domain of a bare address, by the Public Suffix List; the domain itself where the list knows none.
 * Empty for an address without a domain.
 */
export function organizationalDomain(address: string): string {
  return organizationOf(domainOf(address))
}

/** How two domains are related, by the Public Suffix List. */
export function alignmentOf(a: string, b: string): Alignment {
  const [one, other] = [canonicalDomain(a), canonicalDomain(b)]
  if (one === '' || other === '') return 'none'
  if (one === other) return 'exact'
  return organizationOf(one) === organizationOf(other) ? 'relaxed' : 'none'
}

function organizationOf(domain: string): string {
  return getDomain(domain, { allowPrivateDomains: true }) ?? domain
}
