import { lookup, Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { within } from '../concurrency/index.ts'
import { OutboundNetworkError, OutboundUnavailableError } from './errors.ts'
import { codeOf } from './own-trouble.ts'

const QUERY = { timeout: 2_500, tries: 2 }
/** For one question to all name servers: less than a connection may take, so that their silence is not the host's. */
const QUESTION_MS = 8_000

/** More addresses than any client would try; a zone may contain thousands. */
const MAX_ADDRESSES = 8

/**
 * Resolves names by querying DNS directly. The system's resolver is not used for users' names: each of its lookups
 * occupies one of few threads that every connection of the process needs, so slow names would block the process; and it
 * would try the search domains of the local network.
 */
export class NameResolver {
  readonly #dns = new Resolver(QUERY)
  readonly #system: boolean

  /**
   * @param options.servers DNS servers; without any, those of the system.
   * @param options.system whether names unknown to DNS may be resolved by the system (a hosts file).
   */
  constructor(options: { servers?: readonly string[] | undefined; system: boolean }) {
    if (options.servers && options.servers.length > 0) this.#dns.setServers(options.servers)
    this.#system = options.system
  }

  /**
   * @throws OutboundUnavailableError when no name server has answered. @throws OutboundNetworkError when there are no
   * addresses.
   */
  async resolve(hostname: string): Promise<string[]> {
    const name = hostname.replace(/\.$/, '')
    // RFC 6761 6.3: must never be queried in DNS.
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([inTime(this.#dns.resolve4(name)), inTime(this.#dns.resolve6(name))])
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value.slice(0, MAX_ADDRESSES) : [],
    )
    if (addresses.length > 0) return addresses
    const known = this.#system ? await systemAddresses(name) : []
    if (known.length > 0) return known
    const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? [failureCode(answer.reason)] : []))
    // That the name has no address of one kind is an answer, whatever became of the other question.
    const [code = 'UNKNOWN'] = codes
    throw codes.every(isUnanswered) ? new OutboundUnavailableError(code) : new OutboundNetworkError(code)
  }
}

/**
 * c-ares: the server failed, refused, or was not reached; no socket or memory for the question. A broken zone cannot be
 * told from a broken resolver: both are SERVFAIL.
 */
const UNANSWERED = new Set(['ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'ECONNREFUSED', 'ENOMEM', 'ECANCELLED'])

function failureCode(reason: unknown): string {
  return reason instanceof OutboundNetworkError ? reason.networkCode : codeOf(reason)
}

function isUnanswered(code: string): boolean {
  return UNANSWERED.has(code)
}

function inTime(question: Promise<string[]>): Promise<string[]> {
  return within(QUESTION_MS, question, () => {
    throw new OutboundUnavailableError('ETIMEOUT')
  })
}

/** What the system knows beside DNS, from a hosts file. */
async function systemAddresses(name: string): Promise<string[]> {
  try {
    const found = await lookup(name, { all: true })
    return found.map(({ address }) => address)
  } catch {
    return []
  }
}

export function familyOf(address: string): 4 | 6 {
  return isIPv6(address) ? 6 : 4
}
