import type { IncomingMessage, ServerResponse } from 'node:http'

interface NewCookie {
  /** Begins with `__Host-`, so that no other host can set it. */
  readonly name: string
  readonly value: string
  readonly seconds: number
}

/**
 * The value of a cookie. Undefined as well when the browser sends two of the name: one of them was not set here, and
 * which of them is ours cannot be told.
 */
export function readCookie(request: IncomingMessage, name: string): string | undefined {
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  return values.length === 1 ? values[0] : undefined
}

/**
 * Adds a cookie that only this origin reads. `Lax`, because a browser arrives from the app; every call that changes
 * something requires the `Origin` of our page as well.
 */
export function setCookie(response: ServerResponse, { name, value, seconds }: NewCookie): void {
  response.appendHeader(
    'set-cookie',
    `${name}=${value}; Path=/; Max-Age=${Math.floor(seconds)}; Secure; HttpOnly; SameSite=Lax`,
  )
}

/** Removes a cookie. */
export function clearCookie(response: ServerResponse, name: string): void {
  setCookie(response, { name, value: '', seconds: 0 })
}
