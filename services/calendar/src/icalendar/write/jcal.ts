import ICAL from 'ical.js'

/** A property as jCal has it (RFC 7265): name, parameters, type, values. */
export type Property = readonly [
  name: string,
  parameters: Readonly<Record<string, string>>,
  type: string,
  ...values: unknown[],
]

/** A component as jCal has it. */
export type Component = readonly [name: string, properties: readonly Property[], components: readonly Component[]]

// The library does not count the space that a continued line begins with, and lines have at most 75 octets (RFC 5545 3.1).
ICAL.foldLength = 74

/** Writes a component: escaped, folded, with CRLF. */
export function written(component: Component): string {
  return `${ICAL.stringify.component([...component], ICAL.design.icalendar)}\r\n`
}

// Everything but tabs and line ends: no program expects it, and RFC 5545 3.1 does not allow it.
const CONTROL = /[^\P{Cc}\t\n]/gu

/** A text, without characters that no calendar object may have. */
export function text(name: string, value: string): Property {
  return [name, {}, 'text', plain(value)]
}

function plain(value: string): string {
  return value.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL, '').toWellFormed()
}

/** The value of a parameter, which has no line ends and no way to write a quote that all programs know (RFC 5545 3.2). */
export function parameter(value: string): string {
  return value
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('"', "'")
    .replaceAll('^', '')
    .toWellFormed()
    .trim()
}

/** An instant in UTC. */
export function instant(name: string, at: Date): Property {
  return [name, {}, 'date-time', instantValue(at)]
}

/** An instant as jCal has it. */
export function instantValue(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`
}
