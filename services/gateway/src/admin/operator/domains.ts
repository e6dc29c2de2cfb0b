import type { DmarcCount, InternalRequestOf, OperatorDomain, ShownDomain } from '@restante/contracts/internal'
import { ServiceClient } from '@restante/service/http'
import type { DomainsConfig } from './config.ts'
import type { Operator } from './operator.ts'
import { UsageError } from './usage-error.ts'

/** As long as a statement may take in the database of the service, and a little more. */
const ANSWER_MS = 15_000
const PAGE = 200
const MOST_COUNTS = 1_000

export type DomainFilter = Pick<InternalRequestOf<'domains-dns.listAll'>, 'organization_id' | 'status' | 'barred'>

/** A name, and the organization that registered it where several have. */
export interface NamedDomain {
  readonly domain: string
  readonly organization: string | undefined
}

/** Custom domains, which domains-dns owns, and what DMARC reports say of them, which mail-ingest counts. */
export class Domains {
  readonly #domainsDns: ServiceClient<'gateway'>
  readonly #mailIngest: ServiceClient<'gateway'>
  readonly #operator: string

  constructor({ domainsDns, mailIngest, operator }: DomainsConfig) {
    this.#domainsDns = new ServiceClient({ from: 'gateway', to: 'domains-dns', ...domainsDns })
    this.#mailIngest = new ServiceClient({ from: 'gateway', to: 'mail-ingest', ...mailIngest })
    this.#operator = operator
  }

  async close(): Promise<void> {
    await Promise.all([this.#domainsDns.stop(), this.#mailIngest.stop()])
  }

  /** Registrations of all organizations by name, a page at a time. */
  async *list(filter: DomainFilter, limit: number): AsyncGenerator<OperatorDomain[]> {
    let after: InternalRequestOf<'domains-dns.listAll'>['after']
    for (let left = limit; left > 0; ) {
      const request = { ...filter, limit: Math.min(left, PAGE), ...(after && { after }) }
      const { domains } = await this.#domainsDns.call('domains-dns.listAll', request, ANSWER_MS)
      const last = domains.at(-1)
      if (last === undefined) return
      yield domains
      if (domains.length < request.limit) return
      left -= domains.length
      after = { domain: last.domain, domain_uid: last.domain_uid }
    }
  }

  /** Every registration of a name. @throws UsageError when there is none. */
  async show({ domain, organization }: NamedDomain): Promise<ShownDomain[]> {
    const request = { domain, ...(organization !== undefined && { organization_id: organization }) }
    const { domains } = await this.#domainsDns.call('domains-dns.showAll', request, ANSWER_MS)
    if (domains.length === 0) throw new UsageError(`Domain ${domain} was not found.`)
    return domains
  }

  /**
   * Bars a domain from sending, or lifts the bar. The entry in the audit log is written first, and kept only if the owner
   * of domains accepts the change: a bar without an entry would be worse than an entry for what was so already.
   * @returns whether anything changed.
   */
  async setBarred(named: NamedDomain, barred: boolean, operator: Operator): Promise<boolean> {
    const { domain_uid, organization_id: organizationId, domain } = await this.#only(named)
    const action = barred ? 'domain.barred' : 'domain.unbarred'
    return operator.audited({ action, organizationId, details: { after: { domain } } }, async () => {
      const request = { domain_uid, barred, operator: this.#operator }
      const { changed } = await this.#domainsDns.call('domains-dns.setBarred', request, ANSWER_MS)
      if (changed === undefined) throw new UsageError(`Domain ${domain} was not found.`)
      return changed
    })
  }

  /** Makes a check of a domain due now. */
  async check(named: NamedDomain): Promise<void> {
    const { domain_uid, domain } = await this.#only(named)
    const request = { domain_uid, operator: this.#operator }
    const { queued } = await this.#domainsDns.call('domains-dns.checkNow', request, ANSWER_MS)
    if (!queued) throw new UsageError(`Domain ${domain} was not found.`)
  }

  /** What DMARC reports say about a domain since a day, and whether there is more. */
  async dmarc(named: NamedDomain, since: Date, limit: number): Promise<{ counts: DmarcCount[]; more: boolean }> {
    const { domain_uid } = await this.#only(named)
    const request = { domain_uid, since: since.toISOString().slice(0, 10), limit: Math.min(limit, MOST_COUNTS) }
    return this.#mailIngest.call('mail-ingest.listDmarcCounts', request, ANSWER_MS)
  }

  async #only(named: NamedDomain): Promise<ShownDomain> {
    const [domain, ...others] = await this.show(named)
    if (domain === undefined || others.length > 0) {
      throw new UsageError(`Several organizations have registered ${named.domain}: name one with --organization.`)
    }
    return domain
  }
}
