import { getServers } from 'node:dns'
import { type Answer, bestOf, LookupError, type QueryType, type Question, type RecordsByType } from './answer.ts'
import type { Pace } from './pace.ts'
import { DnsServer } from './server.ts'

/** Queries of one question to one server: a lost packet costs a second, not the answer. */
const TRIES = 2

export interface ResolversOptions {
  /** Recursive resolvers, as `DNS_SERVERS` lists them; without any, those of the system. */
  readonly servers: readonly string[]
}

/** The recursive resolvers of the installation. Every question is asked of all of them at once. */
export class Resolvers {
  readonly #servers: readonly DnsServer[]

  constructor({ servers }: ResolversOptions) {
    const addresses = servers.length > 0 ? servers : getServers()
    this.#servers = addresses.map((address) => new DnsServer(address))
  }

  /** Answers that are needed before the absence of a record is believed: one resolver may have a stale cache. */
  get quorum(): number {
    return Math.min(2, this.#servers.length)
  }

  /** The answer of each resolver. Never rejects; takes at most 4 s without a pace. */
  askAll<T extends QueryType>(question: Question<T>): Promise<readonly Answer<T>[]> {
    return this.#askAll(question, async () => {})
  }

  /** The best answer of all resolvers. Never rejects. */
  async ask<T extends QueryType>(question: Question<T>): Promise<Answer<T>> {
    return bestOf(await this.askAll(question))
  }

  /** The records of a name. @throws LookupError when there are none, or nothing is known; see `isAbsent`. */
  async resolve<T extends QueryType>(name: string, type: T): Promise<readonly RecordsByType[T][]> {
    const answer = await this.ask({ name, type })
    if (answer.kind === 'records') return answer.records
    throw new LookupError({ name, type }, answer.code)
  }

  /** The same resolvers at a pace, for work that no one waits for. The returned `askAll` rejects when `signal` aborts. */
  pacedBy(pace: Pace, signal: AbortSignal): AskAll {
    return (question) => this.#askAll(question, (queries) => pace.take(queries, signal))
  }

  async #askAll<T extends QueryType>(
    question: Question<T>,
    take: (queries: number) => Promise<void>,
  ): Promise<readonly Answer<T>[]> {
    await take(this.#servers.length)
    return Promise.all(
      this.#servers.map(async (server) => {
        let answer = await server.query(question)
        for (let tries = 1; answer.kind === 'failed' && answer.code === 'ETIMEOUT' && tries < TRIES; tries++) {
          await take(1)
          answer = await server.query(question)
        }
        return answer
      }),
    )
  }
}

/** Asks all resolvers one question. */
export type AskAll = <T extends QueryType>(question: Question<T>) => Promise<readonly Answer<T>[]>
