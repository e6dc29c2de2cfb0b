type Headers = Readonly<Record<string, string>>

/**
 * The `headers` of a stored mail: our trace lines first, then what the mail brought, without any
 * Authentication-Results that claim to be ours (RFC 8601 5).
 */
export function mergedHeaders(trace: Headers, mail: Headers, hostname: string): Record<string, string> {
  const merged = new Map<string, { name: string; values: string[] }>()
  const add = (name: string, value: string): void => {
    const entry = merged.get(name.toLowerCase()) ?? { name, values: [] }
    entry.values.push(value)
    merged.set(name.toLowerCase(), entry)
  }
  for (const [name, value] of Object.entries(trace)) add(name, value)
  for (const [name, value] of Object.entries(mail)) {
    const kept = name.toLowerCase() === 'authentication-results' ? withoutOurs(value, hostname) : value
    if (kept !== undefined) add(name, kept)
  }
  return Object.fromEntries([...merged.values()].map(({ name, values }) => [name, values.join('\n')]))
}

function withoutOurs(value: string, hostname: string): string | undefined {
  const foreign = value.split('\n').filter((line) => authority(line) !== hostname)
  return foreign.length > 0 ? foreign.join('\n') : undefined
}

/** The authserv-id: the first word, before any version. */
function authority(line: string): string {
  return (/^\s*"?([^\s";]+)/.exec(line)?.[1] ?? '').toLowerCase()
}
