/** The wait that a `Retry-After` field asks for, seconds or a date (RFC 9110 10.2.3), in milliseconds. */
export function parseRetryAfter(field: unknown, now: number): number | undefined {
  if (typeof field !== 'string') return undefined
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1_000
  const date = Date.parse(field)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
