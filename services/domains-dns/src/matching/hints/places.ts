import { getDomain } from 'tldts'
import type { QueryType, Question } from '../../dns/answer.ts'
import type { ExpectedRecord } from '../../records/expected.ts'

/** A name at which a record may have been published by mistake, or that explains why it is not seen. */
export interface Place {
  readonly question: Question<'MX'> | Question<'TXT'> | Question<'CNAME'>
  readonly mistake: 'doubled' | 'misplaced' | 'alias' | 'wildcard'
}

/**
 * Where to look for a record that is not at its name, most likely mistakes first; at most 6 questions. Pure.
 * @param domain that the record belongs to.
 */
export function placesFor(record: ExpectedRecord, domain: string): readonly Place[] {
  const doubled = zonesOf(domain).map((zone): Place => at(record, `${record.name}.${zone}`, 'doubled'))
  const alias: Place = { question: { name: record.name, type: 'CNAME' }, mistake: 'alias' }
  const misplaced = otherNames(record, domain).map((name): Place => at(record, name, 'misplaced'))
  if (record.kind === 'tracking') return doubled
  const wildcard = record.kind === 'return_mx' ? [at(record, `*.${domain}`, 'wildcard')] : []
  return [alias, ...doubled, ...misplaced, ...wildcard]
}

/** What a panel may have appended: the domain, or the zone that it is in. */
function zonesOf(domain: string): readonly string[] {
  const zone = getDomain(domain, { allowPrivateDomains: false })
  return zone === null || zone === domain ? [domain] : [domain, zone]
}

function otherNames({ kind, name }: ExpectedRecord, domain: string): readonly string[] {
  if (kind === 'spf') return [domain]
  // An underscore that was left out, or the last label instead of the whole name.
  if (kind === 'dkim') return [name.replace('._domainkey.', '.domainkey.'), name.replace('._domainkey.', '.')]
  return kind === 'dmarc' ? [`dmarc.${domain}`, domain] : []
}

function at(
  { type }: { readonly type: QueryType & ('MX' | 'TXT' | 'CNAME') },
  name: string,
  mistake: Place['mistake'],
) {
  return { question: { name, type }, mistake } as const
}
