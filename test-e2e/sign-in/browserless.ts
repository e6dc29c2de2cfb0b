import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Agent } from './agent.ts'

/** A client without a browser: a cookie jar, and the steps that the script of the page takes (apps 7.2). */
class Jar {
  readonly #origin: string
  readonly #cookies = new Map<string, string>()

  constructor(origin: string) {
    this.#origin = origin
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...init.headers, ...(cookie !== '' && { cookie }) }
    const response = await fetch(new URL(url, this.#origin), { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    return response
  }

  /** A call of a page. @throws Error unless it succeeds. */
  async call(path: string, body: object): Promise<Readonly<Record<string, string>>> {
    const headers = { 'content-type': 'application/json', origin: this.#origin }
    const response = await this.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path} answered ${response.status} ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }
}

/**
 * Signs an inbox in to an app, and allows what the page of consent shows, if there is one.
 * @param authorizationUrl to which the app sends a browser.
 * @returns the address to which the browser is sent back, with the code.
 */
export async function signInWithoutBrowser(agent: Agent, authorizationUrl: string): Promise<string> {
  const { origin } = new URL(authorizationUrl)
  const jar = new Jar(origin)
  const page = await (await jar.fetch(authorizationUrl)).text()
  const { auth_token, request_id: jti } = actionOf(page)
  const path = `/v0/inboxes/${encodeURIComponent(agent.inboxId)}/authorize`
  const authorized = await agent.api.post(path, { auth_token })
  if (authorized.status !== 200) throw new Error(JSON.stringify(authorized.body))
  const { enrollment_id, api_key_id: kid = '', inbox_id, challenge } = await jar.call('/v0/enroll/start', { jti })
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { kty, crv, x, y } = publicKey.export({ format: 'jwk' })
  const proof = jws(privateKey, 'signin-enroll+jwt', kid, { challenge, enrollment_id, inbox_id, aud: origin })
  await jar.call('/v0/enroll/finish', { enrollment_id, public_key: { kty, crv, x, y }, proof })
  const { searchParams } = new URL(authorizationUrl)
  const redirect_uri_hash = hash(searchParams.get('redirect_uri') ?? '')
  const claims = { jti, inbox_id, client_id: searchParams.get('client_id'), redirect_uri_hash }
  const { next = '' } = await jar.call('/v0/authorize/sign', {
    jti,
    assertion: jws(privateKey, 'signin+jwt', kid, claims),
  })
  const asked = await jar.fetch(next)
  // Consent that was given before is not asked for again.
  if (asked.status === 302) return asked.headers.get('location') ?? ''
  const [, shown] = / data-shown="([\w-]+)"/.exec(await asked.text()) ?? []
  const { location = '' } = await jar.call('/v0/authorize/consent', { jti, allow: true, shown })
  return (await jar.fetch(location)).headers.get('location') ?? ''
}

function actionOf(page: string): Readonly<Record<string, string>> {
  const [, content = ''] = /<meta name="agentid-session-action" content="([^"]*)">/.exec(page) ?? []
  return JSON.parse(content.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function jws(key: KeyObject, typ: string, kid: string, payload: object): string {
  const encoded = [{ alg: 'ES256', typ, kid }, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const text = encoded.join('.')
  return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}
