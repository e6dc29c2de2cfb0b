import { formatWallTime, Zone } from '@restante/recurrence'
import type { Component, Property } from './jcal.ts'
import { type Observance, observancesOf, onsetOf } from './observances.ts'

/** Rules of clocks are looked for so many years from now on, and hold for all later ones. */
const YEARS = 20
/** The change that the clocks of a date come from lies at most so far back, or they are written as never changed. */
const TWO_YEARS = 2 * 366 * 86_400

/**
 * Describes a zone from an instant on (RFC 5545 3.6.5): the clocks at that time, and each later change of them, by a rule
 * where they follow one.
 */
export function timezoneComponent(name: string, from: Date): Component {
  const zone = Zone.of(name)
  const start = Math.floor(from.getTime() / 1_000)
  const end = Math.max(from.getUTCFullYear(), new Date().getUTCFullYear()) + YEARS
  const changes = zone.transitions(start - TWO_YEARS, Date.UTC(end, 0, 1) / 1_000)
  const governing = changes.findLast(({ at }) => at <= start)
  const later = changes.filter(({ at }) => at > start)
  const kinds = Map.groupBy(governing ? [governing, ...later] : later, ({ before, after }) => `${before} ${after}`)
  const observances = [...kinds.values()].flatMap((kind) => observancesOf(kind.map(onsetOf), end))
  const components = [...(governing ? [] : [constant(zone.offsetAt(start))]), ...observances.map(observanceComponent)]
  return ['vtimezone', [['tzid', {}, 'text', name]], components]
}

function observanceComponent({ onsets, rule }: Observance): Component {
  const [{ wall, before, after }, ...rest] = onsets
  // The first is named again: some programs take the start for no change where others are named.
  const dates = rest.length > 0 ? onsets : []
  const named: Property[] = rule
    ? [['rrule', {}, 'recur', rule]]
    : dates.map((onset): Property => ['rdate', {}, 'date-time', formatWallTime(onset.wall)])
  return [
    after > before ? 'daylight' : 'standard',
    [
      ['tzoffsetfrom', {}, 'utc-offset', offset(before)],
      ['tzoffsetto', {}, 'utc-offset', offset(after)],
      ['dtstart', {}, 'date-time', formatWallTime(wall)],
      ...named,
    ],
    [],
  ]
}

/** Clocks that were not changed for long. */
function constant(seconds: number): Component {
  const properties: Property[] = [
    ['tzoffsetfrom', {}, 'utc-offset', offset(seconds)],
    ['tzoffsetto', {}, 'utc-offset', offset(seconds)],
    ['dtstart', {}, 'date-time', '1601-01-01T00:00:00'],
  ]
  return ['standard', properties, []]
}

/** `+02:00`, with seconds where there are some. */
function offset(seconds: number): string {
  const size = Math.abs(seconds)
  const parts = [Math.floor(size / 3_600), Math.floor(size / 60) % 60, ...(size % 60 === 0 ? [] : [size % 60])]
  return `${seconds < 0 ? '-' : '+'}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`
}
