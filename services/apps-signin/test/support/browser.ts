import type { PublicJwk } from '@restante/contracts/schemas'
import { CompactSign, exportJWK, generateKeyPair } from 'jose'

/** A response read to its end, of a page, of a call or of a redirect. */
export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON document, or `{}` where there is none. */
  readonly body: Record<string, unknown>
}

/** A browser without scripts: it keeps cookies, and sends what the scripts of the pages send. */
export class Browser {
  readonly cookies = new Map<string, string>()
  readonly #authBase: string

  constructor(authBase: string) {
    this.#authBase = authBase
  }

  /** Opens a page; redirects are not followed. */
  get(target: string): Promise<Seen> {
    return this.#send(target, { method: 'GET' })
  }

  /** What the script of a page calls; `headers` replace its own, and an empty one is not sent. */
  call(target: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
    const all = { 'content-type': 'application/json', origin: this.#authBase, ...headers }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    return this.#send(target, { method: 'POST', headers: given, body: JSON.stringify(body) })
  }

  /** The same until the server is not too busy, as a page does: for many calls at once on a machine under load. */
  async callAgain(target: string, body: unknown): Promise<Seen> {
    const seen = await this.call(target, body)
    return seen.status === 503 ? this.callAgain(target, body) : seen
  }

  async #send(target: string, init: RequestInit): Promise<Seen> {
    const headers = new Headers(init.headers)
    if (this.cookies.size > 0) headers.set('cookie', [...this.cookies].map((pair) => pair.join('=')).join('; '))
    const response = await fetch(new URL(target, this.#authBase), { ...init, headers, redirect: 'manual' })
    for (const cookie of response.headers.getSetCookie()) {
      const [name = '', value = ''] = cookie.split(';', 1)[0]?.split('=') ?? []
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
  }
}

/** A P-256 key pair as a browser makes it. */
export interface BrowserKey {
  readonly jwk: PublicJwk
  /** A compact JWS by it. */
  sign(header: Readonly<Record<string, string>>, payload: Readonly<Record<string, unknown>>): Promise<string>
}

export async function makeKey(): Promise<BrowserKey> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const { x = '', y = '' } = await exportJWK(publicKey)
  return {
    jwk: { kty: 'EC', crv: 'P-256', x, y },
    sign: (header, payload) =>
      new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: 'ES256', ...header })
        .sign(privateKey),
  }
}

/** The body of `/v0/enroll/finish` for what `/v0/enroll/start` has answered. */
export async function finishBody(
  authBase: string,
  started: Readonly<Record<string, unknown>>,
  key: BrowserKey,
  overrides: Readonly<Record<string, unknown>> = {},
) {
  const { enrollment_id, challenge, inbox_id, api_key_id } = started
  const payload = { challenge, enrollment_id, inbox_id, aud: authBase, ...overrides }
  const proof = await key.sign({ typ: 'signin-enroll+jwt', kid: String(api_key_id) }, payload)
  return { enrollment_id, public_key: key.jwk, proof }
}
