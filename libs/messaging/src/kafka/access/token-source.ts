import { type EngineTrust, explained } from '@restante/service/engines'
import { UpstreamError } from '@restante/service/errors'
import * as oauth from 'oauth4webapi'
import { Agent, fetch } from 'undici'

/** A client of an authorization server. */
export interface OAuthClient {
  /** Token endpoint, `https://` or inside the installation `http://`. */
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string | undefined
}

interface Token {
  readonly value: string
  /** `performance.now()` from which a new one is fetched, and until which this one works. */
  readonly renewAt: number
  readonly expiresAt: number
}

/** For a whole answer of the token endpoint, connection included. */
const TIMEOUT_MS = 10_000
/** Tokens take some kilobytes; a larger answer is not read. */
const RESPONSE_BYTES = 256 * 1024
/** Lifetime of a token whose server does not name one (`expires_in` is only recommended, RFC 6749 5.1). */
const UNKNOWN_LIFETIME_S = 60
/** A token is renewed after this part of its lifetime, and at least so long before its end. */
const RENEWED_AFTER = 0.8
/** kafkajs authenticates connections again 10 s before the token ends, which needs a token that ends later. */
const RENEWED_BEFORE_MS = 15_000

/** Tokens by the client credentials grant (RFC 6749 4.4), kept until shortly before they expire. */
export class TokenSource {
  readonly #client: OAuthClient
  readonly #agent: Agent
  #token: Token | undefined
  #fetching: Promise<Token> | undefined

  constructor(client: OAuthClient, trust: EngineTrust | undefined) {
    this.#client = client
    this.#agent = new Agent({
      connect: { ...(trust && { secureContext: trust.secureContext }), timeout: TIMEOUT_MS },
      maxResponseSize: RESPONSE_BYTES,
      // A process that ends does not wait for idle connections of an agent, and tokens are fetched minutes apart.
      keepAliveTimeout: 1_000,
    })
  }

  /**
   * The current token. One that is due for renewal is used as long as it is valid while the endpoint does not answer.
   * @throws EngineAccessError or Error that says what the endpoint answered.
   */
  async token(): Promise<string> {
    const known = this.#token
    if (known !== undefined && performance.now() < known.renewAt) return known.value
    try {
      this.#fetching ??= this.#fetch().finally(() => {
        this.#fetching = undefined
      })
      this.#token = await this.#fetching
      return this.#token.value
    } catch (error) {
      if (known !== undefined && performance.now() < known.expiresAt) return known.value
      throw error
    }
  }

  async #fetch(): Promise<Token> {
    const { tokenUrl, clientId, clientSecret, scope } = this.#client
    const server = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
    const client = { client_id: clientId }
    const asked = performance.now()
    try {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        oauth.ClientSecretBasic(clientSecret),
        scope === undefined ? {} : { scope },
        {
          [oauth.customFetch]: (url, options) => this.#send(url, options),
          [oauth.allowInsecureRequests]: tokenUrl.startsWith('http:'),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        },
      )
      const { access_token: value, expires_in: seconds = UNKNOWN_LIFETIME_S } =
        await oauth.processClientCredentialsResponse(server, client, response)
      const lifetime = seconds * 1_000
      const renewAfter = Math.max(0, Math.min(lifetime * RENEWED_AFTER, lifetime - RENEWED_BEFORE_MS))
      return { value, renewAt: asked + renewAfter, expiresAt: asked + lifetime }
    } catch (error) {
      throw failureOf(tokenUrl, error)
    }
  }

  async #send(url: string, options: oauth.CustomFetchOptions<'POST', URLSearchParams>): Promise<Response> {
    const { method, headers, body, signal } = options
    const answer = await fetch(url, {
      method,
      headers,
      body: body.toString(),
      redirect: 'manual',
      dispatcher: this.#agent,
      ...(signal && { signal }),
    })
    return new Response(await answer.text(), { status: answer.status, headers: Object.fromEntries(answer.headers) })
  }
}

const ADVICE = 'correct KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE'

/** What the endpoint answered, in words; its answer may hold a token and is not part of it. */
function failureOf(tokenUrl: string, error: unknown): unknown {
  const reason = explained('The token endpoint of Kafka', tokenUrl.startsWith('https:'), error)
  if (reason !== error) return reason
  const endpoint = `The token endpoint of Kafka (${new URL(tokenUrl).host})`
  if (error instanceof oauth.ResponseBodyError) {
    const { status, error: code, error_description: text } = error
    const answer = [status, code, ...(text === undefined ? [] : [`(${text})`])].join(' ')
    return new UpstreamError(`${endpoint} answered ${answer}; ${ADVICE}`, { cause: error })
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError)
    return new UpstreamError(`${endpoint} answered ${error.status}; ${ADVICE}`, { cause: error })
  return new UpstreamError(`${endpoint} gave no token: ${innermost(error)}`, { cause: error })
}

/** The message of the first cause: undici reports every failure of a connection as 'fetch failed'. */
function innermost(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // The cause of an answer without a token is no error, but the answer.
  if (error.cause instanceof Error) return innermost(error.cause)
  // The error of a host with several addresses has only a code.
  return error.message === '' && 'code' in error ? String(error.code) : error.message
}
