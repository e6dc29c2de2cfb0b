import type { MxRecord } from 'node:dns'
import type { ExpectedRecord } from '../../records/expected.ts'
import { judgeCname } from '../families/cname.ts'
import { hostOf } from '../families/found.ts'
import { judgeMxRecord, judgeTxtRecord } from '../families/judge.ts'
import type { Verdict } from '../families/verdict.ts'
import type { Place } from './places.ts'
import { txtHint } from './value-hints.ts'

/** Records at a name, by type; only the type of the record, or an alias. */
export interface Records {
  readonly mx?: readonly MxRecord[]
  readonly txt?: readonly (readonly string[])[]
  readonly cname?: readonly string[]
  readonly addresses?: readonly string[]
}

export interface HintFacts {
  readonly record: ExpectedRecord
  readonly verdict: Verdict
  readonly domain: string
  /** What is at the name of the record. */
  readonly records: Records
  /** The other records of the domain. */
  readonly others: readonly ExpectedRecord[]
  /** What is at the places of `placesFor`. */
  readonly elsewhere: readonly (Place & { readonly records: Records })[]
  /** Display name of a mailbox provider by one of its MX hosts. */
  readonly providerOf: (host: string) => string | undefined
}

/** The likely mistake behind a record that is not valid, for a person (domains 3.1). Pure. */
export function hintFor(facts: HintFacts): string | undefined {
  if (facts.verdict.status === 'VALID') return undefined
  return aliasHint(facts) ?? placeHint(facts) ?? ownHint(facts)
}

/** No other record can be beside an alias (RFC 1034 3.6.2). */
function aliasHint({ record, elsewhere }: HintFacts): string | undefined {
  const target = elsewhere.find(({ mistake }) => mistake === 'alias')?.records.cname?.[0]
  if (target === undefined) return undefined
  return `${record.name} is an alias (CNAME) of ${hostOf(target)}, and an alias has no records of its own. Delete the CNAME record and publish the ${record.type} record.`
}

function placeHint({ record, domain, elsewhere }: HintFacts): string | undefined {
  const place = elsewhere.find((each) => each.mistake !== 'alias' && isThere(record, each.records))
  if (!place) return undefined
  const { name } = place.question
  const relative = record.name === domain ? '@' : record.name.slice(0, -domain.length - 1)
  if (place.mistake === 'doubled')
    return `The record is published at ${name}: the DNS panel appends the domain itself. Enter the name as ${relative}, or with a dot at its end.`
  if (place.mistake === 'wildcard')
    return `The wildcard ${name} does not cover ${record.name}, which has records of its own. Publish this MX record too.`
  return `The record is published at ${name}. Its name must be ${record.name}.`
}

/** Also beside other records: the mistake is in the name. */
function isThere(record: ExpectedRecord, { mx, txt, cname }: Records): boolean {
  const { status, reason } =
    record.type === 'MX'
      ? judgeMxRecord(record, mx ?? [], true)
      : record.type === 'TXT'
        ? judgeTxtRecord(record, txt ?? [])
        : judgeCname(cname ?? [], [], record.value)
  return status === 'VALID' || reason === 'duplicate_records'
}

function ownHint(facts: HintFacts): string | undefined {
  const { record, others, records } = facts
  if (record.type === 'TXT') return txtHint(record, records.txt ?? [], others)
  return record.type === 'MX' ? mxHint(facts) : cnameHint(facts)
}

function mxHint({ record, domain, verdict, records, providerOf }: HintFacts): string | undefined {
  const hosts = (records.mx ?? []).map(({ exchange }) => hostOf(exchange))
  const appended = appendedTarget(record, domain, hosts)
  if (appended !== undefined) return appended
  const rivals = hosts.filter((host) => host !== record.value)
  const [rival] = rivals
  if (rival === undefined) return undefined
  const provider = rivals.map(providerOf).find((name) => name !== undefined)
  const who = provider === undefined ? rival : `${rival} (${provider})`
  const fix =
    record.kind === 'return_mx'
      ? `Only ${record.value} may be there. Delete the others.`
      : `Delete the other MX records, use a subdomain, or register the domain with allow_conflicting_provider.`
  return verdict.reason === 'duplicate_records'
    ? `Mail is also received by ${who}. ${fix}`
    : `Mail is received by ${who} instead. ${fix}`
}

function cnameHint({ record, domain, records }: HintFacts): string | undefined {
  const { cname = [], addresses = [] } = records
  if (cname.length > 0) return appendedTarget(record, domain, cname.map(hostOf))
  if (addresses.length === 0) return undefined
  return `${record.name} has addresses instead of the CNAME record. If the DNS provider proxies the name, turn the proxy off ("DNS only").`
}

/** A target without a dot at its end is below the zone, in some panels. */
function appendedTarget({ value }: ExpectedRecord, domain: string, hosts: readonly string[]): string | undefined {
  const appended = hosts.find((host) => host.startsWith(`${value}.`) && `.${domain}`.endsWith(host.slice(value.length)))
  return (
    appended &&
    `The target is published as ${appended}: the DNS panel appends the domain. Enter ${value}. with a dot at its end.`
  )
}
