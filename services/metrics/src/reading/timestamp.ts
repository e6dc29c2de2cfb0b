/** How to write the times of one answer, in milliseconds since 1970, as ISO 8601: those of all types are the same. */
export function timestamps(): (at: number) => string {
  const written = new Map<number, string>()
  return (at) => {
    const known = written.get(at)
    if (known !== undefined) return known
    const text = new Date(at).toISOString()
    written.set(at, text)
    return text
  }
}
