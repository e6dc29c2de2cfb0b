import type { MxRecord } from 'node:dns'

/** Values that are kept of an answer, and characters of each: a zone may answer with 64 KB. */
const MOST = 10
const LONGEST = 512

/** Values of an answer as they are shown: printable, few and short. */
export function shown(values: readonly string[]): readonly string[] {
  return [...new Set(values)].slice(0, MOST).map((value) => {
    const printable = value.slice(0, LONGEST).replace(/[\p{Cc}\p{Cs}]/gu, '\u{FFFD}')
    return value.length > LONGEST ? `${printable}…` : printable
  })
}

/** A host as it is compared: lower case, without a dot at its end. */
export function hostOf(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

/** An MX record as a person reads it. */
export function mxText({ priority, exchange }: MxRecord): string {
  return `${priority} ${exchange === '' ? '.' : hostOf(exchange)}`
}

/** The value of a TXT record: its strings belong together without anything between them (RFC 7208 3.3). */
export function txtValue(strings: readonly string[]): string {
  return strings.join('')
}
