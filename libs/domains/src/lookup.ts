import { Batcher } from '@restante/service/concurrency'
import type { Queryable } from '@restante/service/database'
import { type Registration, registrations } from './registrations.ts'
import { registrableNames } from './rules.ts'

/** Most domains in one query. */
const MOST = 100

/**
 * Finds the registrations that addresses belong to. The domains of the installation, and names below them, cannot be
 * registered (domains 2.1): they cost no query. Others that are looked up at the same time share one.
 */
export class DomainLookup {
  readonly #ownDomains: ReadonlySet<string>
  readonly #questions: Batcher<string, readonly Registration[]>

  /** @param ownDomains those of the installation, in lower case. */
  constructor({ db, ownDomains }: { readonly db: Queryable; readonly ownDomains: ReadonlySet<string> }) {
    this.#ownDomains = ownDomains
    this.#questions = new Batcher({
      maxItems: MOST,
      async work(asked) {
        const names = asked.map(registrableNames)
        const found = Map.groupBy(await registrations.named(db, [...new Set(names.flat())]), ({ domain }) => domain)
        return names.map((of) => of.flatMap((name) => found.get(name) ?? []))
      },
    })
  }

  /** @param domain lower case, in ASCII. @returns the registrations of its name and those above it. */
  async of(domain: string): Promise<readonly Registration[]> {
    if (registrableNames(domain).some((name) => this.#ownDomains.has(name))) return []
    return this.#questions.add(domain)
  }
}
