type Headers = Readonly<Record<string, string>>

/**
 * Header fields in which a mail claims its own authentication. They are renamed, so that only the fields added here
 * have these names.
 */
const CLAIMS = /^(?:authentication-results|received-spf|arc-authentication-results)$/i

/**
 * The `headers` of a stored mail (mail 5.1): the trace lines added here first, then those of the mail. Authentication
 * results in the mail appear as `X-Original-<name>`, whatever the case of their name.
 */
export function mergedHeaders(trace: Headers, mail: Headers): Record<string, string> {
  const merged = new Map<string, { name: string; values: string[] }>()
  const add = (name: string, value: string): void => {
    const entry = merged.get(name.toLowerCase()) ?? { name, values: [] }
    entry.values.push(value)
    merged.set(name.toLowerCase(), entry)
  }
  for (const [name, value] of Object.entries(trace)) add(name, value)
  for (const [name, value] of Object.entries(mail)) add(CLAIMS.test(name) ? `X-Original-${name}` : name, value)
  return Object.fromEntries([...merged.values()].map(({ name, values }) => [name, values.join('\n')]))
}
