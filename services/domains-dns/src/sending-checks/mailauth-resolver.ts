import { type Answer, bestOf, LookupError, type QueryType } from '../dns/answer.ts'
import type { AskAll } from '../dns/resolvers.ts'

/** How mailauth queries DNS: as `dns.promises.resolve` answers. It declares all answers as texts. */
export type MailauthResolver = (name: string, type: string) => Promise<string[][] | string[]>

const TYPES: Readonly<Record<string, QueryType>> = { TXT: 'TXT', A: 'A', AAAA: 'AAAA', MX: 'MX' }

/**
 * The resolvers of the installation for mailauth, for one check: they are asked each question once. A type that policies
 * need not use (PTR) has no records.
 */
export function mailauthResolver(ask: AskAll): MailauthResolver {
  const asked = new Map<string, Promise<Answer<QueryType>>>()
  const askOnce = (name: string, type: QueryType) => {
    const key = `${type} ${name}`
    const answer = asked.get(key) ?? ask({ name, type }).then(bestOf)
    asked.set(key, answer)
    return answer
  }
  function resolve(name: string, type: string): Promise<string[][] | string[]>
  async function resolve(name: string, type: string): Promise<unknown> {
    const known = TYPES[type]
    if (known === undefined) throw new LookupError({ name, type: 'TXT' }, 'ENODATA')
    const answer = await askOnce(name, known)
    if (answer.kind === 'records') return answer.records
    // mailauth knows few codes of temporary failures.
    throw new LookupError({ name, type: known }, answer.kind === 'absent' ? answer.code : 'ETIMEOUT')
  }
  return resolve
}
