const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

/**
 * The target without scheme and host: `http://host/path?query` is an alternative spelling that a server must accept
 * (RFC 9112 3.2.2). Which host is named makes no difference here.
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const [authority] = ABSOLUTE_FORM.exec(target) ?? []
  if (authority === undefined) return target
  const below = target.slice(authority.length)
  return below.startsWith('/') ? below : `/${below}`
}
