import { bestOf } from '../dns/answer.ts'
import type { AskAll } from '../dns/resolvers.ts'
import type { Verdict } from '../matching/families/verdict.ts'
import { hintFor, type Records } from '../matching/hints/hint.ts'
import { type Place, placesFor } from '../matching/hints/places.ts'
import { providerOf } from '../providers/conflict.ts'
import type { MailboxProvider } from '../providers/table.ts'
import type { ExpectedRecord } from '../records/expected.ts'

export interface ExplainOptions {
  readonly ask: AskAll
  readonly providers: readonly MailboxProvider[]
}

/** Looks for the mistake behind a record that is not valid. What DNS does not answer is left out. */
export async function explain(
  { ask, providers }: ExplainOptions,
  { record, verdict, records }: { record: ExpectedRecord; verdict: Verdict; records: Records },
  { domain, expected }: { domain: string; expected: readonly ExpectedRecord[] },
): Promise<string | undefined> {
  // The record is there: only what is beside it matters.
  const places = verdict.reason === 'duplicate_records' ? [] : placesFor(record, domain)
  const elsewhere = await Promise.all(places.map(async (place) => ({ ...place, records: await recordsAt(ask, place) })))
  return hintFor({
    record,
    verdict,
    domain,
    records,
    others: expected.filter(({ kind }) => kind !== record.kind),
    elsewhere,
    providerOf: (host) => providerOf(host, providers),
  })
}

async function recordsAt(ask: AskAll, { question: { name, type } }: Place): Promise<Records> {
  if (type === 'MX') {
    const answer = bestOf(await ask({ name, type }))
    return answer.kind === 'records' ? { mx: answer.records } : {}
  }
  if (type === 'TXT') {
    const answer = bestOf(await ask({ name, type }))
    return answer.kind === 'records' ? { txt: answer.records } : {}
  }
  const answer = bestOf(await ask({ name, type }))
  return answer.kind === 'records' ? { cname: answer.records } : {}
}
