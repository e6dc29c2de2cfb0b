import type { ExpectedRecord } from '../../records/expected.ts'
import { keyOf } from '../families/dkim.ts'
import { txtValue } from '../families/found.ts'
import { judgeTxtRecord } from '../families/judge.ts'

/** The likely mistake in the TXT values that are at the name of a record (domains 3.1). Pure. */
export function txtHint(
  record: ExpectedRecord,
  records: readonly (readonly string[])[],
  others: readonly ExpectedRecord[],
): string | undefined {
  const values = records.map(txtValue)
  const isRight = (texts: readonly string[]) =>
    judgeTxtRecord(
      record,
      texts.map((text) => [text]),
    ).status === 'VALID'
  if (values.some((value) => value.includes('"') && isRight([unquoted(value)])))
    return 'The value is published with quotation marks inside it. Enter it without them, as one text.'
  if (values.length > 1 && orders(values).some((order) => isRight([unquoted(order.join(''))])))
    return 'The value is split over several TXT records. Publish it as one record: the DNS server splits long texts itself.'
  return pastedHint(values, others) ?? keyHint(record, values) ?? countHint(record)
}

/** Quotation marks, also those between the parts of a long text, are of zone files and not of the value. */
function unquoted(value: string): string {
  return value
    .replace(/\\"/g, '"')
    .replace(/"\s*"/g, '')
    .replace(/^\s*"|"\s*$/g, '')
}

/** DNS returns records in any order; only short lists are tried. */
function orders(values: readonly string[]): readonly (readonly string[])[] {
  if (values.length > 4) return []
  if (values.length <= 1) return [values]
  return values.flatMap((value, index) =>
    orders(values.filter((_, other) => other !== index)).map((rest) => [value, ...rest]),
  )
}

function pastedHint(values: readonly string[], others: readonly ExpectedRecord[]): string | undefined {
  const other = others.find(
    ({ type, value }) => (type === 'TXT' && values.includes(value)) || values.some((text) => sameHost(text, value)),
  )
  return other && `This is the value of the ${other.type} record at ${other.name}. Publish it there.`
}

function keyHint({ kind, value }: ExpectedRecord, values: readonly string[]): string | undefined {
  const wanted = kind === 'dkim' ? keyOf(value) : undefined
  if (wanted === undefined) return undefined
  const keys = values.flatMap((text) => keyOf(text) ?? [])
  const cut = keys.find((key) => key !== '' && key.length < wanted.length && wanted.startsWith(key))
  if (cut !== undefined)
    return `The published key ends after ${cut.length} of ${wanted.length} characters. Publish the whole value; where the DNS panel limits a text to 255 characters, enter it as two quoted parts of one record.`
  if (keys.includes(wanted)) return 'Another key is published at the same name. Delete it.'
  return keys.includes('') ? 'The published key is empty, which means that it is revoked.' : undefined
}

function countHint({ kind, name }: ExpectedRecord): string | undefined {
  if (kind === 'spf') return `${name} needs exactly one TXT record that begins with v=spf1 and has the include.`
  return kind === 'dmarc'
    ? `${name} needs exactly one TXT record with v=DMARC1 and p=none, quarantine or reject.`
    : undefined
}

function sameHost(text: string, host: string): boolean {
  return text.toLowerCase().replace(/\.$/, '') === host
}
