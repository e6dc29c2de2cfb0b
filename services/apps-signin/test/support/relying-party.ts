import { createHash, randomBytes } from 'node:crypto'
import type { SignInCredential } from '@restante/contracts/internal'
import type { SignInScope } from '@restante/contracts/vocabulary'
import { recordConsent } from '../../src/consents/store.ts'
import { Browser, type BrowserKey, makeKey, type Seen } from './browser.ts'
import type { AppsSigninFixture, TestApp } from './fixture.ts'
import { makeTenant, type Tenant, type TestInbox } from './tenant.ts'

type Parameters = Readonly<Record<string, string | undefined>>

/** An inbox whose browser holds a sign-in key. */
export interface Signer {
  readonly tenant: Tenant
  readonly inbox: TestInbox
  readonly credential: SignInCredential
  readonly key: BrowserKey
}

/** Makes an inbox with a key, active as a sign-in key unless told otherwise. */
export async function makeSigner(
  fixture: AppsSigninFixture,
  overrides: Partial<SignInCredential> = {},
  tenant = makeTenant(fixture),
): Promise<Signer> {
  const key = await makeKey()
  const inbox = tenant.inbox()
  return { tenant, inbox, key, credential: tenant.key(inbox, { jwk: key.jwk, ...overrides }) }
}

/** Lets an inbox share with an app without a question, as after an earlier sign-in. */
export async function allow(
  { db }: AppsSigninFixture,
  app: { readonly client_id: string },
  { inbox }: Signer,
  scopes: readonly SignInScope[] = ['openid', 'email'],
  ownerHash: Uint8Array | null = null,
): Promise<void> {
  await db.transaction((tx) =>
    recordConsent(tx, {
      clientId: app.client_id,
      organizationId: inbox.organization_id,
      inboxUid: inbox.inbox_uid,
      scopes,
      redirectUri: null,
      disclosureVersion: 1,
      ownerHash,
      givenBy: 'person',
    }),
  )
}

/** An app on the web, and the browser in which it signs inboxes in. */
export class RelyingParty {
  readonly browser: Browser
  readonly verifier = randomBytes(32).toString('base64url')
  readonly redirectUri: string
  readonly #fixture: AppsSigninFixture
  readonly #app: Pick<TestApp, 'client_id' | 'redirect_uris' | 'client_secret'>

  constructor(fixture: AppsSigninFixture, app: Pick<TestApp, 'client_id' | 'redirect_uris' | 'client_secret'>) {
    this.#fixture = fixture
    this.#app = app
    this.browser = new Browser(fixture.authBase)
    this.redirectUri = app.redirect_uris[0] ?? ''
  }

  get challenge(): string {
    return digest(this.verifier)
  }

  /** The query of a request; a value of `undefined` leaves a parameter out. */
  query(overrides: Parameters = {}): string {
    return encode({
      response_type: 'code',
      client_id: this.#app.client_id,
      redirect_uri: this.redirectUri,
      scope: 'openid email',
      state: 'the state',
      nonce: 'the nonce',
      code_challenge: this.challenge,
      code_challenge_method: 'S256',
      ...overrides,
    })
  }

  authorize(overrides: Parameters = {}): Promise<Seen> {
    return this.browser.get(`/v0/authorize?${this.query(overrides)}`)
  }

  /** Begins a sign-in. @returns its `jti`. */
  async begin(overrides: Parameters = {}): Promise<string> {
    const { status, text } = await this.authorize(overrides)
    const [, jti] = /request_id&quot;:&quot;([\w-]{22})&quot;/.exec(text) ?? []
    if (status !== 200 || jti === undefined) throw new Error(`no sign-in began: ${status} ${text}`)
    return jti
  }

  /** The assertion by which a browser proves its key. */
  assertion({ inbox, credential, key }: Signer, jti: string, overrides: Parameters = {}): Promise<string> {
    const claims = {
      jti,
      inbox_id: inbox.address,
      client_id: this.#app.client_id,
      redirect_uri_hash: digest(this.redirectUri),
    }
    return key.sign({ typ: 'signin+jwt', kid: credential.api_key_id }, { ...claims, ...overrides })
  }

  async sign(signer: Signer, jti: string): Promise<Seen> {
    return this.browser.call('/v0/authorize/sign', { jti, assertion: await this.assertion(signer, jti) })
  }

  goOn(jti: string): Promise<Seen> {
    return this.browser.get(`/v0/authorize/continue?jti=${jti}`)
  }

  /** Signs an inbox in that has allowed it before. @returns where the browser is sent. */
  async signIn(signer: Signer, overrides: Parameters = {}): Promise<URL> {
    const jti = await this.begin(overrides)
    const signed = await this.sign(signer, jti)
    if (signed.status !== 200) throw new Error(`not signed: ${signed.status} ${signed.text}`)
    return locationOf(await this.goOn(jti))
  }

  /** The same. @returns the code. */
  async code(signer: Signer, overrides: Parameters = {}): Promise<string> {
    const location = await this.signIn(signer, overrides)
    return location.searchParams.get('code') ?? `no code at ${location}`
  }

  basic(secret = this.#app.client_secret): Record<string, string> {
    return { authorization: `Basic ${Buffer.from(`${this.#app.client_id}:${secret}`).toString('base64')}` }
  }

  /** Exchanges a code, authenticated with the secret in a header unless `headers` say otherwise. */
  exchange(
    code: string,
    overrides: Parameters = {},
    headers: Readonly<Record<string, string>> = this.basic(),
  ): Promise<Seen> {
    const form = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
    }
    return this.post('/v0/token', encode({ ...form, ...overrides }), headers)
  }

  /** A form from the server of the app, or from a page of it. */
  async post(path: string, form: string, headers: Readonly<Record<string, string>> = {}): Promise<Seen> {
    const response = await fetch(new URL(path, this.#fixture.authBase), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: form,
      redirect: 'manual',
    })
    return seen(response)
  }

  async userInfo(token: unknown, method = 'GET'): Promise<Seen> {
    const headers = { authorization: `Bearer ${token}` }
    return seen(await fetch(new URL('/v0/userinfo', this.#fixture.authBase), { method, headers }))
  }
}

export function locationOf({ status, headers, text }: Seen): URL {
  const location = headers.get('location')
  if (status !== 302 || location === null) throw new Error(`not sent back: ${status} ${text}`)
  return new URL(location)
}

/** SHA-256 in base64url. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

export function encode(parameters: Parameters): string {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.append(name, value)
  return form.toString()
}

export async function seen(response: Response): Promise<Seen> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}
