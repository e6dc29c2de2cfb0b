import { randomBytes } from 'node:crypto'
import { type Answer, bestOf } from '../dns/answer.ts'
import type { AskAll } from '../dns/resolvers.ts'
import { judgeCname } from '../matching/families/cname.ts'
import { judgeMxRecord, judgeTxtRecord } from '../matching/families/judge.ts'
import { better, type JudgeOptions, judgeAll, recordsOf, type Verdict } from '../matching/families/verdict.ts'
import type { Records } from '../matching/hints/hint.ts'
import type { ExpectedRecord } from '../records/expected.ts'

/** What DNS says of one record. */
export interface Seen {
  /** Undefined: nothing is known, so the record keeps its status. */
  readonly verdict: Verdict | undefined
  /** What is at its name, for hints. */
  readonly records: Records
}

export interface LookUpOptions extends JudgeOptions {
  /** Whether other hosts may receive mail as well. */
  readonly allowsOthers: boolean
}

/** Asks DNS for one record of a domain, and judges the best answer (domains 3.1). */
export function lookUp(ask: AskAll, record: ExpectedRecord, options: LookUpOptions): Promise<Seen> {
  if (record.kind === 'wildcard_mx') return lookUpWildcard(ask, record, options)
  if (record.type === 'MX') return lookUpMx(ask, record, record.name, options)
  return record.type === 'TXT' ? lookUpTxt(ask, record, options) : lookUpCname(ask, record, options)
}

async function lookUpMx(ask: AskAll, record: ExpectedRecord, name: string, options: LookUpOptions): Promise<Seen> {
  const answers = await ask({ name, type: 'MX' })
  const verdict = judgeAll(answers, (records) => judgeMxRecord(record, records, options.allowsOthers), options)
  return { verdict, records: { mx: recordsOf(answers) } }
}

/** Of a name that surely has no records of its own, and of the wildcard itself; either matching counts. */
async function lookUpWildcard(ask: AskAll, record: ExpectedRecord, options: LookUpOptions): Promise<Seen> {
  const probe = record.name.replace('*', randomBytes(8).toString('hex'))
  const [covered, literal] = await Promise.all([
    lookUpMx(ask, record, probe, options),
    lookUpMx(ask, record, record.name, options),
  ])
  if (covered.verdict === undefined || literal.verdict === undefined) {
    const known = covered.verdict === undefined ? literal : covered
    return known.verdict?.status === 'VALID' ? known : { ...known, verdict: undefined }
  }
  return better(covered.verdict, literal.verdict) === covered.verdict ? covered : literal
}

async function lookUpTxt(ask: AskAll, record: ExpectedRecord, options: LookUpOptions): Promise<Seen> {
  const answers = await ask({ name: record.name, type: 'TXT' })
  const verdict = judgeAll(answers, (records) => judgeTxtRecord(record, records), options)
  return { verdict, records: { txt: recordsOf(answers) } }
}

async function lookUpCname(ask: AskAll, { name, value }: ExpectedRecord, options: LookUpOptions): Promise<Seen> {
  const answers = await ask({ name, type: 'CNAME' })
  const cname = recordsOf(answers)
  const verdict = judgeAll(answers, (aliases) => judgeCname(aliases, [], value), options)
  if (verdict?.status !== 'MISSING') return { verdict, records: { cname } }
  const addresses = await addressesOf(ask, name)
  return { verdict: judgeCname([], addresses, value), records: { cname, addresses } }
}

/** The addresses of a name that has no alias: a provider that proxies it publishes its own. */
async function addressesOf(ask: AskAll, name: string): Promise<readonly string[]> {
  const [four, six] = await Promise.all([ask({ name, type: 'A' }), ask({ name, type: 'AAAA' })])
  return [...textsOf(bestOf(four)), ...textsOf(bestOf(six))]
}

function textsOf(answer: Answer<'A'> | Answer<'AAAA'>): readonly string[] {
  return answer.kind === 'records' ? answer.records : []
}
