import { promises as dns } from 'node:dns'
import { AnswerCache } from './answer-cache.ts'
import { dnsCode, isTemporaryCode } from './dns-errors.ts'
import { type Answer, type Question, questionKey } from './question.ts'

const BOUNDS = { entries: 10_000, characters: 8 * 1024 * 1024 }
const FRESH_MS = 60_000
/** Names that do not exist are cached more briefly: they may be added. */
const ABSENT_MS = 10_000
/** A failure is cached only long enough that a burst of mail does not repeat the query. */
const FAILURE_MS = 2_000

/** Queries DNS records once a minute, however many mails need them; concurrent queries are shared. */
export class DnsCache {
  readonly #resolver = new dns.Resolver({ timeout: 1_000, tries: 2 })
  readonly #answers = new AnswerCache(BOUNDS)
  readonly #pending = new Map<string, Promise<Answer>>()

  /** @param servers addresses, with a port unless it is 53. Without any, those of the system are used. */
  constructor(servers: readonly string[]) {
    if (servers.length > 0) this.#resolver.setServers(servers)
  }

  /** Never rejects: a failure is an answer with a code of `node:dns`. */
  async ask(question: Question): Promise<Answer> {
    const known = this.#answers.get(question)
    if (known) return known
    const key = questionKey(question)
    const pending = this.#pending.get(key) ?? this.#look(question, key)
    this.#pending.set(key, pending)
    return pending
  }

  async #look(question: Question, key: string): Promise<Answer> {
    const answer = await this.#query(question)
    this.#answers.set(question, answer)
    this.#pending.delete(key)
    return answer
  }

  async #query({ name, type }: Question): Promise<Answer> {
    try {
      const records = await resolve(this.#resolver, name, type)
      return { records, until: Date.now() + FRESH_MS }
    } catch (error) {
      const code = dnsCode(error)
      return { code, until: Date.now() + (isTemporaryCode(code) ? FAILURE_MS : ABSENT_MS) }
    }
  }
}

/** mailauth declares all answers as texts, but expects those of MX as objects, as `node:dns` returns them. */
function resolve(resolver: dns.Resolver, name: string, type: string): Promise<string[][] | string[]>
function resolve(resolver: dns.Resolver, name: string, type: string): Promise<unknown> {
  return resolver.resolve(name, type)
}
