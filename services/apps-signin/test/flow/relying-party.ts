import { createHash, randomBytes } from 'node:crypto'
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { Browser, type BrowserKey, type Seen } from '../support/browser.ts'
import type { TestApp } from '../support/fixture.ts'
import { returned } from '../support/proven.ts'

/** What the waiting page tells an agent, by the element that agents read. */
interface SessionAction {
  readonly type: string
  readonly issuer: string
  readonly auth_token: string
  readonly request_id: string
  readonly authorize_endpoint: string
}

/** A key that a browser has enrolled. */
export interface EnrolledKey {
  readonly apiKeyId: string
  readonly inboxId: string
  readonly key: BrowserKey
}

/** One sign-in at an app, as the app and the browser go through it. */
export class SignIn {
  readonly browser: Browser
  readonly #authBase: string
  readonly #app: TestApp
  readonly #verifier = randomBytes(32).toString('base64url')
  readonly #state = randomBytes(8).toString('base64url')
  readonly #nonce = randomBytes(8).toString('base64url')
  #action: SessionAction | undefined

  constructor(authBase: string, app: TestApp, browser = new Browser(authBase)) {
    this.#authBase = authBase
    this.#app = app
    this.browser = browser
  }

  /** The browser arrives from the app, and shows the waiting page. */
  async begin(scope: string, more: Readonly<Record<string, string>> = {}): Promise<SessionAction> {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.#app.client_id,
      redirect_uri: this.#redirectUri,
      scope,
      state: this.#state,
      nonce: this.#nonce,
      code_challenge: createHash('sha256').update(this.#verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    })
    const page = await this.browser.get(`/v0/authorize?${query}`)
    const [, content] = /<meta name="agentid-session-action" content=(?:'([^']*)'|"[^"]*")/.exec(page.text) ?? []
    const [, quoted] = /<meta name="agentid-session-action" content="([^"]*)"/.exec(page.text) ?? []
    const text = (content ?? quoted ?? '').replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
    if (page.status !== 200 || text === '') throw new Error(`no waiting page: ${page.status} ${page.text}`)
    const action: SessionAction = JSON.parse(text)
    this.#action = action
    return action
  }

  get jti(): string {
    return this.#action?.request_id ?? ''
  }

  /** How far it is, as the page asks every two seconds. */
  async state(): Promise<unknown> {
    return (await this.browser.call('/v0/enroll/status', { jti: this.jti })).body['state']
  }

  /** Proves the inbox by a key of this browser. */
  async sign({ apiKeyId, inboxId, key }: EnrolledKey): Promise<Seen> {
    const redirect_uri_hash = createHash('sha256').update(this.#redirectUri).digest('base64url')
    const payload = { jti: this.jti, inbox_id: inboxId, client_id: this.#app.client_id, redirect_uri_hash }
    const assertion = await key.sign({ typ: 'signin+jwt', kid: apiKeyId }, payload)
    return this.browser.call('/v0/authorize/sign', { jti: this.jti, assertion })
  }

  goOn(): Promise<Seen> {
    return this.browser.get(`/v0/authorize/continue?jti=${this.jti}`)
  }

  /** The app takes the code that the browser comes back with, and asks who signed in. */
  async redeem(back: Seen): Promise<{ readonly token: JWTPayload; readonly info: Record<string, unknown> }> {
    const { code = '', state, iss } = returned(back)
    if (state !== this.#state || iss !== this.#authBase) throw new Error(`no answer to this sign-in: ${back.text}`)
    const { client_id, client_secret } = this.#app
    const response = await fetch(`${this.#authBase}/v0/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: this.#redirectUri,
        code_verifier: this.#verifier,
      }),
    })
    const tokens: Record<string, string> = JSON.parse(await response.text())
    if (!response.ok) throw new Error(`no tokens: ${response.status} ${JSON.stringify(tokens)}`)
    const keys: JSONWebKeySet = JSON.parse(await (await fetch(`${this.#authBase}/v0/jwks.json`)).text())
    const { payload } = await jwtVerify(tokens['id_token'] ?? '', createLocalJWKSet(keys), {
      issuer: this.#authBase,
      audience: client_id,
    })
    if (payload['nonce'] !== this.#nonce) throw new Error('the token is of another sign-in')
    const authorization = `Bearer ${tokens['access_token']}`
    const info = await fetch(`${this.#authBase}/v0/userinfo`, { headers: { authorization } })
    return { token: payload, info: JSON.parse(await info.text()) }
  }

  get #redirectUri(): string {
    return this.#app.redirect_uris[0] ?? ''
  }
}
