/** The answer is definite: no such name, no such record, or an impossible name. */
const DEFINITE = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME'])

/** The code of a failed look-up, as `node:dns` names it. */
export function dnsCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'EUNKNOWN'
}

/** Whether a code means a temporary failure: time-out, SERVFAIL, REFUSED, no connection. */
export function isTemporaryCode(code: string): boolean {
  return !DEFINITE.has(code)
}
