import { promises as dns } from 'node:dns'

/** Records as `dns.resolve` gives them, by name and type; rejects with its codes (`ENOTFOUND`, `ETIMEOUT`, ...). */
export type Resolve = (name: string, type: string) => Promise<string[][] | string[]>

const ENTRIES = 10_000
const FRESH_MS = 60_000
/** Names that do not exist, and failures, are remembered more briefly: they may be mended. */
const FAILURE_MS = 10_000

interface Entry {
  readonly answer: Promise<string[][] | string[]>
  until: number
}

/** Looks DNS records up once a minute, however many mails ask; questions that are under way are shared. */
export class DnsCache {
  readonly #resolver = new dns.Resolver({ timeout: 1_000, tries: 2 })
  readonly #entries = new Map<string, Entry>()

  /** @param servers addresses, with ports where they are not 53; none: those of the system. */
  constructor(servers: readonly string[]) {
    if (servers.length > 0) this.#resolver.setServers(servers)
  }

  readonly resolve: Resolve = (name, type) => {
    const key = `${type} ${name.toLowerCase()}`
    const known = this.#entries.get(key)
    if (known && known.until > Date.now()) return known.answer
    const entry: Entry = { answer: ask(this.#resolver, name, type), until: Date.now() + FRESH_MS }
    entry.answer.catch(() => {
      entry.until = Date.now() + FAILURE_MS
    })
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (this.#entries.size > ENTRIES) this.#dropOldest()
    return entry.answer
  }

  #dropOldest(): void {
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}

/** mailauth declares answers as texts and expects those of MX as objects, which is how `node:dns` gives them. */
function ask(resolver: dns.Resolver, name: string, type: string): Promise<string[][] | string[]>
function ask(resolver: dns.Resolver, name: string, type: string): Promise<unknown> {
  return resolver.resolve(name, type)
}

/** The same look-ups, all of which give up at one deadline: what is not known by then is a temporary error. */
export function withDeadline(resolve: Resolve, ms: number): { resolve: Resolve; end: () => void } {
  let expire = (_error: Error): void => {}
  const expired = new Promise<never>((_resolve, reject) => {
    expire = reject
  })
  expired.catch(() => {})
  const timer = setTimeout(() => expire(Object.assign(new Error('DNS took too long'), { code: 'ETIMEOUT' })), ms)
  return { resolve: (name, type) => Promise.race([resolve(name, type), expired]), end: () => clearTimeout(timer) }
}
