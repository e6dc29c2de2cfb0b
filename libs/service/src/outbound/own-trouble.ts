import { isIPv4 } from 'node:net'

/** No descriptor, memory, buffer or local port is free. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL'])
/** This machine has no way out. */
const NO_ROUTE = new Set(['ENETUNREACH', 'ENETDOWN'])

/**
 * Whether a connection failed for a reason on this side. A host that has only IPv6 cannot be reached from a network
 * without it: that is no trouble that would pass, so a missing route counts for IPv4 alone.
 */
export function isOwnTrouble(error: unknown): boolean {
  const failures = failuresOf(error)
  if (failures.some((failure) => EXHAUSTED.has(codeOf(failure)))) return true
  return (
    failures.some((failure) => isIPv4(addressOf(failure))) && failures.every((failure) => NO_ROUTE.has(codeOf(failure)))
  )
}

/** Of several addresses that were tried, each has its own. */
function failuresOf(error: unknown): unknown[] {
  return error instanceof AggregateError && error.errors.length > 0 ? error.errors.flatMap(failuresOf) : [error]
}

function addressOf(error: unknown): string {
  return error instanceof Error && 'address' in error && typeof error.address === 'string' ? error.address : ''
}

/** The code of a network failure, for people: `ENOTFOUND`, `ECONNREFUSED`, `CERT_HAS_EXPIRED`, ... */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'cause' in error ? codeOf(error.cause) : 'UNKNOWN'
}
