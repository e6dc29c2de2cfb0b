import { createSecureContext, type SecureContext } from 'node:tls'
import { UpstreamError } from '@restante/service/errors'
import type { ServiceClient } from '@restante/service/http'
import { LRUCache } from 'lru-cache'
import { trackingHostName } from './host-name.ts'

/** A renewed certificate is in use after this time. */
const FRESH_MS = 5 * 60_000
/** How long a host counts as unknown. Short, because a certificate may be issued in the meantime. */
const UNKNOWN_MS = 10_000
/** How long a known certificate is used without a question after its owner did not answer one, which takes seconds. */
const UNANSWERED_MS = 10_000
/** Most certificates in memory, and most names of unknown hosts. */
const MOST_KNOWN = 1_000
const MOST_UNKNOWN = 10_000
/** Most questions at a time about hosts that are not known. Anybody can ask for any name. */
const MOST_ASKED = 64

interface Certified {
  readonly context: SecureContext
  readonly freshUntil: number
  readonly notAfter: number
}

/**
 * The certificates of tracking hosts. Their owner hands them over by an authenticated call; here they are in memory only.
 * While the owner does not answer, a certificate that is known is used until it expires.
 */
export class TrackingHosts {
  readonly #owner: ServiceClient<'gateway'>
  readonly #freshMs: number
  readonly #known = new LRUCache<string, Certified>({ max: MOST_KNOWN })
  readonly #unknown = new LRUCache<string, true>({ max: MOST_UNKNOWN, ttl: UNKNOWN_MS })
  readonly #asked = new Map<string, Promise<Certified | undefined>>()

  /** @param freshMs how long a certificate is used before it is asked for again; default 5 minutes. */
  constructor(owner: ServiceClient<'gateway'>, freshMs = FRESH_MS) {
    this.#owner = owner
    this.#freshMs = freshMs
  }

  /**
   * The certificate of a host with its key; undefined when it is no tracking host. Those who ask at the same time wait for
   * one answer.
   * @throws UpstreamError when the owner does not answer, or too much is asked of it.
   */
  async contextOf(name: string): Promise<SecureContext | undefined> {
    const host = trackingHostName(name)
    if (host === undefined) return undefined
    const known = this.#known.get(host)
    if (known !== undefined && known.freshUntil > Date.now()) return known.context
    if (known === undefined && this.#unknown.has(host)) return undefined
    return (await this.#ask(host, known))?.context
  }

  #ask(host: string, known: Certified | undefined): Promise<Certified | undefined> {
    const asked = this.#asked.get(host)
    if (asked !== undefined) return asked
    if (known === undefined && this.#asked.size >= MOST_ASKED)
      throw new UpstreamError('too many unknown hosts at a time')
    const answer = this.#find(host, known).finally(() => this.#asked.delete(host))
    this.#asked.set(host, answer)
    return answer
  }

  async #find(host: string, known: Certified | undefined): Promise<Certified | undefined> {
    try {
      const { certificate } = await this.#owner.call('domains-dns.findCertificate', { host })
      if (certificate === undefined) return this.#forget(host)
      const notAfter = Date.parse(certificate.not_after)
      const context = createSecureContext({ cert: certificate.chain, key: certificate.private_key })
      const certified = { context, notAfter, freshUntil: Math.min(Date.now() + this.#freshMs, notAfter) }
      this.#known.set(host, certified)
      return certified
    } catch (error) {
      const now = Date.now()
      if (!(error instanceof UpstreamError) || known === undefined || known.notAfter <= now) throw error
      this.#known.set(host, { ...known, freshUntil: Math.min(now + UNANSWERED_MS, known.notAfter) })
      return known
    }
  }

  #forget(host: string): undefined {
    this.#known.delete(host)
    this.#unknown.set(host, true)
  }
}
