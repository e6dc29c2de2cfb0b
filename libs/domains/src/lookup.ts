import { LIMITS } from '@restante/contracts/vocabulary'
import { Batcher } from '@restante/service/concurrency'
import type { Queryable } from '@restante/service/database'
import type { ServiceClient } from '@restante/service/http'
import { type Registration, registrationOfOwner, registrations } from './registrations.ts'
import { registrableNames } from './rules.ts'

/** Most domains in one query. */
const MOST = 100
/** Most domains in one question to the owner, each with all names above it; most names in one question. */
const MOST_ASKED = 10
const MOST_NAMES = 100
/** Octets of a name; a longer one is none. */
const LONGEST = LIMITS.domain.name.max
/** Concurrent questions: more would each carry fewer domains, and only one would let a lost answer hold up all. */
const AT_ONCE = 2

export interface DomainLookupOptions {
  readonly db: Queryable
  /** The domains of the installation, in lower case. */
  readonly ownDomains: ReadonlySet<string>
  /** The client of domains-dns. */
  readonly owner: Pick<ServiceClient, 'call'>
}

/**
 * Finds the registrations that addresses belong to. The domains of the installation, and names below them, cannot be
 * registered (domains 2.1): they cost no query. Others that are looked up at the same time share one.
 *
 * The projection may be a moment old, so it may say yes, never no: before something is refused for what it lacks,
 * `ofOwner` asks the owner.
 */
export class DomainLookup {
  readonly #ownDomains: ReadonlySet<string>
  readonly #questions: Batcher<string, readonly Registration[]>
  readonly #ofOwner: Batcher<string, readonly Registration[]>

  constructor({ db, ownDomains, owner }: DomainLookupOptions) {
    this.#ownDomains = ownDomains
    this.#ofOwner = new Batcher({
      maxItems: MOST_ASKED,
      concurrency: AT_ONCE,
      async work(asked) {
        const names = asked.map((domain) => registrableNames(domain).filter((name) => name.length <= LONGEST))
        const found: Registration[] = []
        for (const some of chunks([...new Set(names.flat())], MOST_NAMES)) {
          const { domains } = await owner.call('domains-dns.findRegistrations', { names: some })
          found.push(...domains.map(registrationOfOwner))
        }
        return names.map((of) => found.filter((one) => of.includes(one.domain)))
      },
    })
    this.#questions = new Batcher({
      maxItems: MOST,
      async work(asked) {
        const names = asked.map(registrableNames)
        const found = Map.groupBy(await registrations.named(db, [...new Set(names.flat())]), ({ domain }) => domain)
        return names.map((of) => of.flatMap((name) => found.get(name) ?? []))
      },
    })
  }

  /** Whether a domain is one of the installation, or below one: no organization can have registered it. */
  isOwn(domain: string): boolean {
    return registrableNames(domain).some((name) => this.#ownDomains.has(name))
  }

  /** @param domain lower case, in ASCII. @returns the registrations of its name and those above it. */
  async of(domain: string): Promise<readonly Registration[]> {
    return this.isOwn(domain) ? [] : this.#questions.add(domain)
  }

  /**
   * The same from the rows of their owner: live registrations only.
   * @throws UpstreamError when it does not answer.
   */
  async ofOwner(domain: string): Promise<readonly Registration[]> {
    return this.isOwn(domain) ? [] : this.#ofOwner.add(domain)
  }
}

function chunks(names: readonly string[], size: number): string[][] {
  return Array.from({ length: Math.ceil(names.length / size) }, (_, index) =>
    names.slice(index * size, (index + 1) * size),
  )
}
