type Headers = Readonly<Record<string, string>>

/** What a mail says of its own authentication. Nobody has to tell whose word it is: only our own keeps its name. */
const CLAIMS = /^(?:authentication-results|received-spf|arc-authentication-results)$/i

/**
 * The `headers` of a stored mail (mail 5.1): our trace lines first, then what the mail brought. Its own results of
 * authentication appear as `X-Original-<name>`, whatever name they are given in.
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
