import { Resolver } from 'node:dns/promises'
import { within } from '@restante/service/concurrency'
import { codeOf, isError } from '@restante/service/errors'
import { Counter } from 'prom-client'
import { type Answer, isAbsent, type QueryType, type Question, type RecordsByType } from './answer.ts'

const queriesTotal = new Counter({
  name: 'restante_dns_queries_total',
  help: 'DNS queries about custom domains by outcome (records, absent, failed)',
  labelNames: ['outcome'],
})
for (const outcome of ['records', 'absent', 'failed']) queriesTotal.inc({ outcome }, 0)

/** For one query; a recursive resolver that needs longer has the answer in its cache at the next check. */
export const QUERY_MS = 1_000

/** Records of an answer that are kept. A hostile zone fills 64 KB at every name, and many answers are held at once. */
const MOST = 100

/** One recursive resolver. */
export class DnsServer {
  readonly #resolver: Resolver

  constructor(address: string) {
    // Repeated queries are sent by the caller, which counts them.
    this.#resolver = new Resolver({ timeout: QUERY_MS, tries: 1 })
    this.#resolver.setServers([address])
  }

  /** Sends one query. Never rejects. */
  async query<T extends QueryType>(question: Question<T>): Promise<Answer<T>> {
    const answer = await this.#send(question)
    queriesTotal.inc({ outcome: answer.kind })
    return answer
  }

  async #send<T extends QueryType>({ name, type }: Question<T>): Promise<Answer<T>> {
    try {
      // Over TCP the library's time limit does not cover a server that accepts the connection and stays silent.
      const records = await within(2 * QUERY_MS, resolve(this.#resolver, name, type), () => undefined)
      if (records === undefined) return { kind: 'failed', code: 'ETIMEOUT' }
      return records.length > 0
        ? { kind: 'records', records: records.slice(0, MOST) }
        : { kind: 'absent', code: 'ENODATA' }
    } catch (error) {
      const code = (isError(error) ? codeOf(error) : undefined) ?? 'EUNKNOWN'
      return { kind: isAbsent(code) ? 'absent' : 'failed', code }
    }
  }
}

type Resolve = { readonly [T in QueryType]: (resolver: Resolver, name: string) => Promise<RecordsByType[T][]> }

const RESOLVE: Resolve = {
  MX: (resolver, name) => resolver.resolveMx(name),
  // In one piece: the strings of a record may be thousands, of one octet each.
  TXT: async (resolver, name) => (await resolver.resolveTxt(name)).map((strings) => [strings.join('')]),
  CNAME: (resolver, name) => resolver.resolveCname(name),
  A: (resolver, name) => resolver.resolve4(name),
  AAAA: (resolver, name) => resolver.resolve6(name),
  NS: (resolver, name) => resolver.resolveNs(name),
  SOA: async (resolver, name) => [await resolver.resolveSoa(name)],
}

function resolve<T extends QueryType>(resolver: Resolver, name: string, type: T): Promise<RecordsByType[T][]> {
  return RESOLVE[type](resolver, name)
}
