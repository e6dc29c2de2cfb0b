import { Resolver } from 'node:dns/promises'
import type { Queryable } from '@restante/service/database'
import type { GuardedFetch } from '@restante/service/outbound'
import type { Logger } from '@restante/service/telemetry'
import { parsePolicy, resolvePolicy } from 'mailauth/lib/mta-sts.js'
import { RecentMap } from '../../destinations/recent-map.ts'
import { isMode, type MtaStsPolicy } from './policy.ts'
import { findPolicy, keepPolicy } from './store.ts'

export interface MtaStsOptions {
  readonly db: Queryable
  readonly fetcher: Pick<GuardedFetch, 'fetch'>
  /** DNS servers (`address` or `address:port`) instead of the system's. */
  readonly dnsServers: readonly string[]
  readonly log: Logger
  /** Port of the policy hosts; 443 except in tests. */
  readonly port?: number
}

interface Looked {
  readonly until: number
  readonly policy: Promise<MtaStsPolicy | undefined>
}

/** A domain is asked about its policy once in this time, and a policy host that fails no sooner again (RFC 8461 3.3). */
const LOOK_AGAIN_MS = 5 * 60_000
const FETCH = { timeoutMs: 15_000, maxBytes: 64 * 1_024 }

/**
 * The MTA-STS policies of recipients' domains (RFC 8461). A policy that was seen once is kept in the database until it
 * expires: who can keep this process from fetching it must not thereby end it.
 */
export class MtaSts {
  readonly #options: MtaStsOptions
  readonly #resolver = new Resolver({ timeout: 2_500, tries: 2 })
  readonly #looked = new RecentMap<Looked>()

  constructor(options: MtaStsOptions) {
    this.#options = options
    if (options.dnsServers.length > 0) this.#resolver.setServers([...options.dnsServers])
  }

  /** The policy that holds for a domain; undefined when it has none. @throws the error of the database. */
  async policyFor(domain: string): Promise<MtaStsPolicy | undefined> {
    const known = this.#looked.get(domain)
    if (known && known.until > Date.now()) return holding(await known.policy)
    const policy = this.#look(domain)
    this.#looked.set(domain, { until: Date.now() + LOOK_AGAIN_MS, policy })
    try {
      return await policy
    } catch (error) {
      this.#looked.delete(domain)
      throw error
    }
  }

  async #look(domain: string): Promise<MtaStsPolicy | undefined> {
    const { db } = this.#options
    const [kept, id] = await Promise.all([findPolicy(db, domain), this.#idOf(domain)])
    // Without a record the kept policy holds until it expires (RFC 8461 5.1): only a policy `none` ends it.
    if (id === undefined || id === kept?.id) return kept
    const fetched = await this.#fetch(domain, id)
    if (!fetched) return kept
    await keepPolicy(db, domain, fetched)
    return fetched
  }

  async #idOf(domain: string): Promise<string | undefined> {
    const resolver = (name: string): Promise<string[][]> => this.#resolver.resolveTxt(name)
    try {
      return (await resolvePolicy(domain, { resolver, strict: true })) || undefined
    } catch (error) {
      this.#options.log.debug({ err: error, domain }, 'mta-sts record not found out')
      return undefined
    }
  }

  /** Redirects are not followed, and the certificate must be valid for the policy host (RFC 8461 3.3). */
  async #fetch(domain: string, id: string): Promise<MtaStsPolicy | undefined> {
    const { fetcher, port = 443, log } = this.#options
    try {
      const host = port === 443 ? `mta-sts.${domain}` : `mta-sts.${domain}:${port}`
      const { status, headers, body } = await fetcher.fetch(`https://${host}/.well-known/mta-sts.txt`, FETCH)
      if (status !== 200) throw new Error(`the policy host answered ${status}`)
      if (!/^text\/plain\s*(;|$)/i.test(String(headers['content-type']))) throw new Error('the policy is no plain text')
      const { mode, mx = [], maxAge = 0 } = parsePolicy(body, { strict: true })
      if (!isMode(mode)) throw new Error('the policy has no mode')
      return { id, mode, hosts: mx, expiresAt: new Date(Date.now() + maxAge * 1_000) }
    } catch (error) {
      log.warn({ err: error, domain }, 'mta-sts policy not fetched')
      return undefined
    }
  }
}

function holding(policy: MtaStsPolicy | undefined): MtaStsPolicy | undefined {
  return policy && policy.expiresAt.getTime() > Date.now() ? policy : undefined
}
