import type { ServerResponse } from 'node:http'

/** Of every answer of this origin, whatever it is: a page or a refusal may name a sign-in. */
const HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  // Pages replace it with a policy that lets them run their own script.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
} as const

/** Sets the headers that every answer has; a page may replace them with stricter ones of its own. */
export function secure(response: ServerResponse): void {
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value)
}

/** Sends a page as `pages/` renders it. */
export function sendPage(
  response: ServerResponse,
  { status, headers, body }: { status: number; headers: Readonly<Record<string, string | number>>; body: string },
): void {
  response.writeHead(status, { ...headers })
  response.end(body)
}

/** Sends a browser on with 302. */
export function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location, 'content-length': 0 }).end()
}
