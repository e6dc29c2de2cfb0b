import { promises as dns } from 'node:dns'
import { dnsCode, isTemporaryCode } from './dns-errors.ts'
import type { Answer, Question } from './question.ts'

const ENTRIES = 10_000
const FRESH_MS = 60_000
/** Names that do not exist are cached more briefly: they may be added. */
const ABSENT_MS = 10_000
/** A failure is cached only long enough that a burst of mail does not repeat the query. */
const FAILURE_MS = 2_000

interface Entry {
  readonly answer: Promise<Answer>
  until: number
}

/** Queries DNS records once a minute, however many mails need them; concurrent queries are shared. */
export class DnsCache {
  readonly #resolver = new dns.Resolver({ timeout: 1_000, tries: 2 })
  readonly #entries = new Map<string, Entry>()

  /** @param servers addresses, with a port unless it is 53. Without any, those of the system are used. */
  constructor(servers: readonly string[]) {
    if (servers.length > 0) this.#resolver.setServers(servers)
  }

  /** Never rejects: a failure is an answer with a code of `node:dns`. */
  ask({ name, type }: Question): Promise<Answer> {
    const key = `${type} ${name.toLowerCase()}`
    const known = this.#entries.get(key)
    if (known && known.until > Date.now()) return known.answer
    const entry: Entry = {
      until: Date.now() + FRESH_MS,
      answer: this.#look(name, type, (ms) => {
        entry.until = Date.now() + ms
      }),
    }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size > ENTRIES) this.#dropOldest()
    return entry.answer
  }

  async #look(name: string, type: string, failed: (rememberMs: number) => void): Promise<Answer> {
    try {
      return { records: await resolve(this.#resolver, name, type) }
    } catch (error) {
      failed(isTemporaryCode(dnsCode(error)) ? FAILURE_MS : ABSENT_MS)
      return { code: dnsCode(error) }
    }
  }

  #dropOldest(): void {
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}

/** mailauth declares all answers as texts, but expects those of MX as objects, as `node:dns` returns them. */
function resolve(resolver: dns.Resolver, name: string, type: string): Promise<string[][] | string[]>
function resolve(resolver: dns.Resolver, name: string, type: string): Promise<unknown> {
  return resolver.resolve(name, type)
}
