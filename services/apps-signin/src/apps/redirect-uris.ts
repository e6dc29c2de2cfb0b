import { LIMITS } from '@restante/contracts/vocabulary'

/** An http URI on loopback (RFC 8252, 7.3): host, port, and the rest from the path on. */
const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::(\d{1,5}))?((?:[/?].*)?)$/
const MAX_PORT = 65_535

/** A URL that has one spelling only, without user info and fragment; undefined for any other text. */
export function canonicalUrl(text: string): URL | undefined {
  const url = text.length <= LIMITS.app.url ? URL.parse(text) : null
  if (url === null || url.username !== '' || url.password !== '' || text.includes('#')) return undefined
  // A parser folds `..`, letters of hosts, usual ports, tabs and backslashes. What it would change is not accepted.
  return url.href === text || (url.href === `${text}/` && url.pathname === '/') ? url : undefined
}

/**
 * Why a redirect URI, or the URI at which an app begins a sign-in, cannot be registered; undefined when it can (apps 5).
 * @param native whether the app runs on the machine of its user, and listens on loopback.
 */
export function redirectUriProblem(text: string, native: boolean): string | undefined {
  const url = canonicalUrl(text)
  if (url === undefined) {
    return 'Must be an absolute URL in its canonical form: lower-case host, no user info, no fragment, no dot segments'
  }
  if (url.protocol === 'https:') return undefined
  if (!LOOPBACK.test(text)) return 'Must be https'
  return native ? undefined : 'May be http on loopback for native apps only'
}

/**
 * Whether a request may be answered at a redirect URI: it is one of those registered, byte by byte. On loopback, which
 * only native apps can have registered, the port is whatever the app got from its system.
 */
export function matchesRedirectUri(registered: readonly string[], given: string): boolean {
  if (registered.includes(given)) return true
  const portless = withoutPort(given)
  return portless !== undefined && registered.some((uri) => withoutPort(uri) === portless)
}

function withoutPort(uri: string): string | undefined {
  const [, host, port = '', rest = ''] = LOOPBACK.exec(uri) ?? []
  if (host === undefined || Number(port) > MAX_PORT || uri.includes('#')) return undefined
  return `http://${host}${rest}`
}

/** Whether a redirect URI lies at the origin of an open client's URL (apps 5.2). */
export function isAtOrigin(clientId: string, given: string): boolean {
  const [client, redirect] = [canonicalUrl(clientId), canonicalUrl(given)]
  return client !== undefined && redirect?.protocol === 'https:' && redirect.origin === client.origin
}
