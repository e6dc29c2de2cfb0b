import { type DomainLookup, registrationOf, registrations } from '@restante/domains'
import { normalizeAddress } from '@restante/mime'
import type { Database } from '@restante/service/database'

export interface CopySwitchesOptions {
  readonly db: Database
  readonly domains: DomainLookup
  /** Those of the installation, in lower case. */
  readonly ownDomains: ReadonlySet<string>
  /** Whether inboxes on these get copies. */
  readonly shared: boolean
}

/** Which inboxes get copies of reports about their mail: `feedback_enabled` of their domain (domains 11). */
export class CopySwitches {
  readonly #options: CopySwitchesOptions

  constructor(options: CopySwitchesOptions) {
    this.#options = options
  }

  /** Whether there is a domain with copies at all. */
  async anyOn(): Promise<boolean> {
    return this.#options.shared || registrations.anyWithFeedback(this.#options.db)
  }

  async wants({
    address,
    organization_id,
  }: {
    readonly address: string
    readonly organization_id: string
  }): Promise<boolean> {
    const { ownDomains, shared, domains: lookup } = this.#options
    const normal = normalizeAddress(address)
    const domain = normal.slice(normal.lastIndexOf('@') + 1)
    if (ownDomains.has(domain)) return shared
    return registrationOf(domain, organization_id, await lookup.of(domain))?.feedback_enabled ?? false
  }
}
