import { createRemoteJWKSet, jwtVerify } from 'jose'
import { Pool } from 'undici'
import { z } from 'zod'
import { inParallel } from '../../harness/in-parallel.ts'
import type { Exchange } from './exchange.ts'

const metadata = z.object({ token_endpoint: z.url(), jwks_uri: z.url() })
const tokens = z.object({ access_token: z.string(), id_token: z.string(), token_type: z.literal('Bearer') })

/** Exchanges of a batch. */
export interface Exchanged {
  readonly seconds: number
  /** How long each took, in milliseconds. */
  readonly took: readonly number[]
}

/** The token endpoint of a provider, and persistent connections to it. */
export class TokenEndpoint {
  readonly #pool: Pool
  readonly #path: string
  readonly #issuer: string
  readonly #keys: ReturnType<typeof createRemoteJWKSet>

  private constructor(issuer: string, { token_endpoint, jwks_uri }: z.infer<typeof metadata>, connections: number) {
    const { origin, pathname } = new URL(token_endpoint)
    this.#pool = new Pool(origin, { connections })
    this.#path = pathname
    this.#issuer = issuer
    this.#keys = createRemoteJWKSet(new URL(jwks_uri))
  }

  static async discover(issuer: string, connections: number): Promise<TokenEndpoint> {
    const answer = await fetch(`${issuer}/.well-known/openid-configuration`)
    return new TokenEndpoint(issuer, metadata.parse(await answer.json()), connections)
  }

  /**
   * Exchanges each code once; each of `atOnce` clients waits for the response before its next request. The ID token of
   * the last response is verified afterwards.
   * @throws Error when a code is refused.
   */
  async exchange(batch: readonly Exchange[], atOnce: number): Promise<Exchanged> {
    const requests = batch.map((one) => ({ headers: headersOf(one), body: bodyOf(one) }))
    const took: number[] = []
    let last = ''
    const began = performance.now()
    await inParallel(requests.length, atOnce, async (at) => {
      const sent = performance.now()
      last = await this.#post(requests[at] ?? {})
      took.push(performance.now() - sent)
    })
    const seconds = (performance.now() - began) / 1_000
    const { id_token } = tokens.parse(JSON.parse(last))
    await jwtVerify(id_token, this.#keys, { issuer: this.#issuer, algorithms: ['ES256'] })
    return { seconds, took }
  }

  async #post(request: { readonly headers?: Record<string, string>; readonly body?: string }): Promise<string> {
    const { statusCode, body } = await this.#pool.request({ method: 'POST', path: this.#path, ...request })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`a code was answered ${statusCode} ${text}`)
    return text
  }

  stop(): Promise<void> {
    return this.#pool.close()
  }
}

function headersOf({ clientId, clientSecret }: Exchange): Record<string, string> {
  return {
    authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
    'content-type': 'application/x-www-form-urlencoded',
  }
}

function bodyOf({ redirectUri, code, verifier }: Exchange): string {
  const form = { grant_type: 'authorization_code', redirect_uri: redirectUri, code, code_verifier: verifier }
  return new URLSearchParams(form).toString()
}
