import { OutboundRefusedError } from './errors.ts'

/** One request in a chain of redirects. */
export interface Hop {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | undefined
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * The request that a redirect leads to (RFC 9110 15.4), or undefined when the response is not a redirect. A different
 * origin gets none of the caller's headers but `Accept`: they may be secrets between the caller and the first host.
 * @throws OutboundRefusedError when the location is not a URL.
 */
export function followRedirect(hop: Hop, status: number, location: string | string[] | undefined): Hop | undefined {
  if (!REDIRECTS.has(status) || typeof location !== 'string') return undefined
  if (!URL.canParse(location, hop.url.href))
    throw new OutboundRefusedError('url', "The redirect's location is not a URL.")
  const url = new URL(location, hop.url)
  const becomesGet = status === 303 || (status < 303 && hop.method === 'POST')
  const kept = Object.entries(hop.headers).filter(([name]) => {
    const lower = name.toLowerCase()
    if (becomesGet && lower.startsWith('content-')) return false
    return url.origin === hop.url.origin || lower === 'accept'
  })
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? undefined : hop.body,
  }
}
