import { createHash } from 'node:crypto'
import type { InternalRequestOf } from '@restante/contracts/internal'
import type { Rate } from '@restante/service/configuration'
import { isLoopback, networkOf } from '@restante/service/connections'
import { ApiError } from '@restante/service/errors'
import { Counter } from 'prom-client'
import type { Identity } from '../../identity/identity.ts'
import { type Bucket, bucketOf, type Charge, type LimitName, type Refusal } from './buckets.ts'
import type { Meter } from './meter.ts'

const limited = new Counter({
  name: 'restante_rate_limited_total',
  help: 'Requests refused with 429 because of a rate limit',
  labelNames: ['limit'],
})

export interface RateLimitSettings {
  readonly organization: Rate
  readonly credential: Rate
  /** Calls of tools, per key. */
  readonly toolCall: Rate
  /** Per client address. */
  readonly signUp: Rate
  /** Per client address; requests with a valid key do not count. */
  readonly failedAuthentication: Rate
  /** Per download link, for all clients together. */
  readonly download: Rate
  /** Per link to unsubscribe, for all clients together. */
  readonly unsubscribe: Rate
  /** Per client address, for answers to challenges of a certificate authority. */
  readonly challenge: Rate
  /** Whether clients on this machine are exempt from all rate limits. */
  readonly exemptLoopback: boolean
}

/** Limits that count client addresses. */
type PeerLimitName = 'sign-up' | 'failed-authentication' | 'challenge'

const MESSAGES: Readonly<Record<LimitName, string>> = {
  organization: 'Too many requests of this organization',
  credential: 'Too many requests with this API key',
  'tool-call': 'Too many calls of tools with this API key',
  'sign-up': 'Too many sign-ups from this address',
  'failed-authentication': 'Too many requests without a valid API key from this address',
  download: 'Too many downloads with this link',
  unsubscribe: 'Too many requests with this link',
  challenge: 'Too many requests for answers to challenges from this address',
}

/** Which requests are limited, by what, and the error for those beyond a limit (identity 1.9). */
export class RateLimits {
  readonly #meter: Meter
  readonly #prefix: string
  readonly #settings: RateLimitSettings
  readonly #rates: Readonly<Record<LimitName, Rate>>
  /** Each look-up of a key creates one identity, which many requests share. */
  readonly #charges = new WeakMap<Identity, Charge>()

  /** @param options.prefix of every key in Redis. */
  constructor(options: { readonly meter: Meter; readonly prefix: string; readonly settings: RateLimitSettings }) {
    const { meter, prefix, settings } = options
    this.#meter = meter
    this.#prefix = `${prefix}:rate`
    this.#settings = settings
    this.#rates = {
      organization: settings.organization,
      credential: settings.credential,
      'tool-call': settings.toolCall,
      'sign-up': settings.signUp,
      'failed-authentication': settings.failedAuthentication,
      download: settings.download,
      unsubscribe: settings.unsubscribe,
      challenge: settings.challenge,
    }
  }

  /** A request with a valid key. @throws ApiError 429 */
  async admit(identity: Identity, peer: string): Promise<void> {
    if (this.#spares(peer)) return
    const refusal = await this.#meter.take(this.#chargeOf(identity))
    if (refusal !== undefined) throw this.#refused(refusal)
  }

  /** A call of a tool (mcp 4), whose requests to the API are counted as well. @throws ApiError 429 */
  async admitToolCall({ organization_id, credential_id, peer }: InternalRequestOf<'gateway.admitToolCall'>) {
    if (this.#spares(peer)) return
    const key = `${this.#prefix}:{${organization_id}}:${credential_id}:tools`
    const refusal = await this.#meter.take({ shared: bucketOf('tool-call', key, this.#rates['tool-call']) })
    if (refusal !== undefined) throw this.#refused(refusal)
  }

  /** A sign-up, which needs no key. @throws ApiError 429 */
  async admitSignUp(peer: string): Promise<void> {
    await this.#admitPeer('sign-up', peer)
  }

  /** A request for the answer to a challenge, which needs no key. @throws ApiError 429 */
  async admitChallenge(peer: string): Promise<void> {
    await this.#admitPeer('challenge', peer)
  }

  /**
   * A download by a link, which needs no key. The link is counted by its hash: it gives access to a file, so it is not
   * stored in Redis.
   * @throws ApiError 429
   */
  async admitDownload(link: string, peer: string): Promise<void> {
    await this.#admitLink('download', link, peer)
  }

  /** A request with a link to unsubscribe, counted likewise. @throws ApiError 429 */
  async admitUnsubscribe(link: string, peer: string): Promise<void> {
    await this.#admitLink('unsubscribe', link, peer)
  }

  /**
   * A link to unsubscribe was unknown: a guess counts as a failed authentication. Valid links of the same client go on,
   * because a provider sends the requests of all its users. @throws ApiError 429
   */
  async countUnknownLink(peer: string): Promise<void> {
    await this.#admitPeer('failed-authentication', peer)
  }

  async #admitPeer(limit: PeerLimitName, peer: string): Promise<void> {
    if (this.#spares(peer)) return
    const refusal = await this.#meter.take({ shared: this.#bucketOfPeer(limit, peer) })
    if (refusal !== undefined) throw this.#refused(refusal)
  }

  async #admitLink(limit: 'download' | 'unsubscribe', link: string, peer: string): Promise<void> {
    if (this.#spares(peer)) return
    const hash = createHash('sha256').update(link).digest('base64url')
    const bucket = bucketOf(limit, `${this.#prefix}:${limit}:{${hash}}`, this.#rates[limit])
    const refusal = await this.#meter.take({ shared: bucket })
    if (refusal !== undefined) throw this.#refused(refusal)
  }

  /**
   * Runs an authentication. A failed one is counted, and answered as such until its client address has had too many;
   * other clients at the same address continue with their valid keys.
   * @param work `sparingly` while the address is beyond the limit: a failure should then cost as little as possible.
   * @throws ApiError what the authentication throws, or 429 in place of its 401.
   */
  async authenticate(peer: string, work: (sparingly: boolean) => Promise<Identity>): Promise<Identity> {
    if (this.#spares(peer)) return work(false)
    const charge = { shared: this.#bucketOfPeer('failed-authentication', peer) }
    try {
      return await work(this.#meter.isEmpty(charge))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error
      const refusal = await this.#meter.take(charge)
      throw refusal === undefined ? error : this.#refused(refusal)
    }
  }

  #spares(peer: string): boolean {
    return this.#settings.exemptLoopback && isLoopback(peer)
  }

  #chargeOf(identity: Identity): Charge {
    const known = this.#charges.get(identity)
    if (known !== undefined) return known
    const key = `${this.#prefix}:{${identity.organizationId}}`
    const charge = {
      shared: bucketOf('organization', key, this.#rates.organization),
      own: bucketOf('credential', `${key}:${identity.credential.id}`, this.#rates.credential),
    }
    this.#charges.set(identity, charge)
    return charge
  }

  #bucketOfPeer(limit: PeerLimitName, peer: string): Bucket {
    return bucketOf(limit, `${this.#prefix}:${limit}:{${networkOf(peer)}}`, this.#rates[limit])
  }

  #refused({ bucket: { limit }, waitMs }: Refusal): ApiError {
    limited.inc({ limit })
    const { requests, period, burst } = this.#rates[limit]
    return new ApiError('rate_limit_exceeded', {
      message: MESSAGES[limit],
      fix: `The limit is ${requests} per ${period}, at most ${burst} at once. Wait as long as Retry-After says.`,
      retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
    })
  }
}
