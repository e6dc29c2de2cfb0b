import { Zone } from '@restante/recurrence'
import { wallOf } from '../../dates/times/wall.ts'
import { type Component, type Property, written } from './jcal.ts'
import { timezoneComponent } from './timezone.ts'

const PRODUCT: readonly Property[] = [
  ['prodid', {}, 'text', '-//Restante//Calendar//EN'],
  ['version', {}, 'text', '2.0'],
  ['calscale', {}, 'text', 'GREGORIAN'],
]

/** What a mail about an event is: an invitation or a change, a cancellation, an answer (RFC 5546). */
export type Method = 'REQUEST' | 'CANCEL' | 'REPLY'

/** The calendar object of a mail: some components of one event, and the zones of their times. */
export function calendarObject(method: Method, components: readonly Component[]): string {
  const properties: Property[] = [...PRODUCT, ['method', {}, 'text', method]]
  return written(['vcalendar', properties, [...zonesOf(components), ...components]])
}

/** The calendar object of a subscription. */
export function subscribedObject(name: string, components: readonly Component[]): string {
  const properties: Property[] = [
    ...PRODUCT,
    // As `unknown` they are written without VALUE, which few programs expect there.
    ['name', {}, 'unknown', name],
    ['x-wr-calname', {}, 'unknown', name],
    ['refresh-interval', {}, 'duration', 'PT15M'],
    ['x-published-ttl', {}, 'unknown', 'PT15M'],
  ]
  return written(['vcalendar', properties, [...zonesOf(components), ...components]])
}

/** Descriptions of the zones that times of components are in, each from the earliest of these times on. */
export function zonesOf(components: readonly Component[]): Component[] {
  const earliest = new Map<string, number>()
  for (const [, properties] of components) {
    for (const [, { tzid }, , ...values] of properties) {
      if (tzid === undefined) continue
      const zone = Zone.of(tzid)
      const instants = values.map((value) => zone.instantOf(wallOf(String(Array.isArray(value) ? value[0] : value))))
      earliest.set(tzid, Math.min(earliest.get(tzid) ?? Number.POSITIVE_INFINITY, ...instants))
    }
  }
  return [...earliest].map(([zone, instant]) => timezoneComponent(zone, new Date(instant * 1_000)))
}
