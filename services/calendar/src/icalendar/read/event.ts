import { type Component, type Property, parameterOf, propertiesOf, propertyOf, textOf } from './jcal.ts'
import type { ReadAttendee, ReadEvent } from './read-file.ts'
import type { TimeReader } from './times.ts'
import { UnreadableError } from './unreadable-error.ts'

/** The library counts them from Sunday, as 1. */
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const MOST_SEQUENCE = 2 ** 31 - 2
/** A stamp before the year 1900 or after 9999 says nothing, and databases refuse some of them. */
const [EARLIEST_STAMP, STAMP_END] = [Date.UTC(1900), Date.UTC(10_000)]
const STATUSES = { TENTATIVE: 'tentative', CANCELLED: 'cancelled' } as const
const ANSWERS = { ACCEPTED: 'accepted', DECLINED: 'declined', TENTATIVE: 'tentative' } as const

/** Reads a VEVENT. @throws UnreadableError */
export function readEvent(component: Component, times: TimeReader): ReadEvent {
  const date = propertyOf(component, 'recurrence-id')
  if (date !== undefined && parameterOf(date, 'range') !== undefined) throw new UnreadableError('later_dates')
  const recurrenceId = times.one(component, 'recurrence-id')
  return {
    ...(recurrenceId !== undefined && { recurrenceId }),
    sequence: sequenceOf(component),
    stampedAt: stampOf(component),
    title: shown(textOf(component, 'summary')) ?? '',
    description: shown(textOf(component, 'description')),
    location: shown(textOf(component, 'location')),
    status: lookUp(STATUSES, textOf(component, 'status')) ?? 'confirmed',
    start: times.one(component, 'dtstart'),
    end: times.one(component, 'dtend'),
    duration: textOf(component, 'duration'),
    rule: ruleOf(component),
    exdates: times.all(component, 'exdate'),
    rdates: times.added(component),
    organizer: addressOf(propertyOf(component, 'organizer')),
    attendees: propertiesOf(component, 'attendee').flatMap(readAttendee),
    comment: shown(textOf(component, 'comment')),
  }
}

function sequenceOf(component: Component): number | undefined {
  const value = propertyOf(component, 'sequence')?.[3]
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MOST_SEQUENCE) {
    throw new UnreadableError('invalid_event')
  }
  return value
}

function stampOf(component: Component): string | undefined {
  const value = textOf(component, 'dtstamp')
  // Some programs leave out the zone, which can only be UTC (RFC 5545 3.8.7.2).
  const at = value === undefined ? Number.NaN : Date.parse(value.endsWith('Z') ? value : `${value}Z`)
  return at >= EARLIEST_STAMP && at < STAMP_END ? new Date(at).toISOString() : undefined
}

function ruleOf(component: Component): string | undefined {
  const [rule, ...others] = propertiesOf(component, 'rrule')
  if (rule === undefined) return undefined
  const parts = rule[3]
  if (others.length > 0 || typeof parts !== 'object' || parts === null) throw new UnreadableError('invalid_event')
  return Object.entries(parts)
    .filter(([name]) => name !== '') // Google ends some rules with a semicolon.
    .map(([name, value]) => `${name.toUpperCase()}=${name === 'wkst' ? WEEKDAYS[Number(value) - 1] : String(value)}`)
    .join(';')
}

function readAttendee(property: Property): ReadAttendee[] {
  const email = addressOf(property)
  if (email === undefined) return []
  const name = shown(parameterOf(property, 'cn'))
  return [
    {
      email,
      ...(name !== undefined && { name }),
      status: lookUp(ANSWERS, parameterOf(property, 'partstat')) ?? 'needs_action',
      role: parameterOf(property, 'role')?.toUpperCase() === 'OPT-PARTICIPANT' ? 'optional' : 'required',
    },
  ]
}

/** The address of a person; of a person without one, whom programs name by a directory or a resource, undefined. */
function addressOf(property: Property | undefined): string | undefined {
  const value = property?.[3]
  const [, direct] = (typeof value === 'string' && /^mailto:(.+)$/i.exec(value.trim())) || []
  // Exchange names people by their directory, and the address beside it (RFC 7986 6.2).
  const given = direct ?? (property && parameterOf(property, 'email'))
  return given?.trim()
}

function lookUp<const Values extends Readonly<Record<string, string>>>(
  values: Values,
  given: string | undefined,
): Values[keyof Values] | undefined {
  const name = given?.trim().toUpperCase() ?? ''
  return Object.hasOwn(values, name) ? (values[name] as Values[keyof Values]) : undefined
}

/** A text that can be stored and shown: without control characters but tabs and line breaks. Empty: none. */
function shown(text: string | undefined): string | undefined {
  const clean = text
    ?.toWellFormed()
    .replaceAll('\r\n', '\n')
    .replaceAll(/(?![\t\n])\p{Cc}/gu, '')
    .trim()
  return clean === '' ? undefined : clean
}
