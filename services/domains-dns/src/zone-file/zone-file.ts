import type { ExpectedRecord } from '../records/expected.ts'

/** Seconds for which resolvers keep a record. */
const TTL = 300
/** Octets of one string of a TXT record (RFC 1035 3.3). */
const STRING_OCTETS = 255

/** Records as lines of a BIND zone file, fully qualified, so that they fit into any zone (domains 3.2). */
export function zoneFile(records: readonly ExpectedRecord[]): string {
  const width = Math.max(...records.map(({ name }) => name.length)) + 1
  return records.map((record) => `${lineOf(record, width)}\n`).join('')
}

function lineOf({ type, name, value, priority }: ExpectedRecord, width: number): string {
  const start = `${`${name}.`.padEnd(width)} ${TTL} IN ${type.padEnd(5)}`
  switch (type) {
    case 'MX':
      return `${start} ${priority} ${value}.`
    case 'CNAME':
      return `${start} ${value}.`
    case 'TXT':
      return `${start} ${stringsOf(value).map(quoted).join(' ')}`
  }
}

/** Values are ASCII, so that characters are octets. */
function stringsOf(text: string): readonly string[] {
  const count = Math.max(1, Math.ceil(text.length / STRING_OCTETS))
  return Array.from({ length: count }, (_, index) => text.slice(index * STRING_OCTETS, (index + 1) * STRING_OCTETS))
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
