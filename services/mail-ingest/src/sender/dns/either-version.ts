import { dnsCode } from './dns-errors.ts'
import type { Resolve } from './lookups.ts'

const OTHER_VERSION: ReadonlyMap<string, string> = new Map([
  ['A', 'AAAA'],
  ['AAAA', 'A'],
])

/**
 * The same look-ups, but a name that has only addresses of the other version of IP has no addresses, instead of no
 * answer. RFC 7208 4.6.4 counts it as a void lookup, and ends with `permerror` at the third: a permitted sender that
 * connects over IPv6 would not pass by `v=spf1 a mx a:mail.example.com include:provider.example -all`, in which most
 * names have addresses of IPv4 only.
 */
export function eitherVersion(resolve: Resolve): Resolve {
  return async (name, type) => {
    try {
      return await resolve(name, type)
    } catch (error) {
      const other = OTHER_VERSION.get(type)
      if (other === undefined || dnsCode(error) !== 'ENODATA') throw error
      await resolve(name, other).catch((reason: unknown) => {
        if (isVoid(reason)) throw error
      })
      return []
    }
  }
}

const isVoid = (error: unknown): boolean => ['ENODATA', 'ENOTFOUND'].includes(dnsCode(error))
