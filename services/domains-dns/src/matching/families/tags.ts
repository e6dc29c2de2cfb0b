/** The tags of a DKIM key or a DMARC policy (RFC 6376 3.2) by name; of a repeated name the first. */
export function tagsOf(value: string): ReadonlyMap<string, string> {
  const tags = new Map<string, string>()
  for (const part of value.split(';')) {
    const [name = '', ...rest] = part.split('=')
    const key = name.trim().toLowerCase()
    if (rest.length > 0 && !tags.has(key)) tags.set(key, rest.join('=').trim())
  }
  return tags
}
