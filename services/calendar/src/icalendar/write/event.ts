import type { Attendee } from '@restante/contracts/resources'
import type { AttendeeStatus, EventStatus } from '@restante/contracts/vocabulary'
import type { CalendarDate } from '../../dates/date.ts'
import { endOf } from '../../dates/times/schedule.ts'
import { sequenceOf } from '../../documents/date.ts'
import type { EventState, Schedule } from '../../model/rows.ts'
import { type Component, instant, type Property, parameter, text } from './jcal.ts'
import { recurrenceProperties } from './recurrence.ts'
import { endTime, times } from './times.ts'

/** Who writes, and when. */
export interface Writing {
  /** Of the inbox. */
  readonly address: string
  /** Of the inbox, if it organizes the event. */
  readonly displayName?: string | undefined
  readonly at: Date
}

/** What differs from what is stored. */
export interface Changes {
  readonly sequence?: number
  readonly status?: EventStatus
  readonly attendees?: readonly Attendee[]
}

/** What a VEVENT says, of an event or of one date. */
interface Written extends Schedule {
  readonly end: string
  readonly end_at: Date
  readonly title: string
  readonly description: string | null
  readonly location: string | null
  readonly status: EventStatus
  readonly attendees: readonly Attendee[]
}

/** A one-off event, or a series with its rule (calendar 14.2). */
export function eventComponent({ event }: EventState, writing: Writing, changes: Changes = {}): Component {
  const { created_at, updated_at } = event
  const written = { ...event, end: endOf(event), ...changes }
  return vevent(event, writing, written, [
    instant('created', created_at),
    instant('last-modified', updated_at),
    ...recurrenceProperties(event),
  ])
}

/** One date of a series, with all of its fields. The only date of a one-off is the event itself. */
export function dateComponent(
  state: EventState,
  date: CalendarDate,
  writing: Writing,
  changes: Changes = {},
): Component {
  const { event } = state
  if (event.kind === 'single') return eventComponent(state, writing, changes)
  const { created_at, updated_at } = date.single ?? date.future.at(-1) ?? event
  return vevent(event, writing, { sequence: sequenceOf(state, date), ...date, ...changes }, [
    times('recurrence-id', event, date.slot),
    instant('created', created_at),
    instant('last-modified', updated_at),
  ])
}

/** What the inbox answers to an invitation, about an event or one date of it (RFC 5546 3.2.3). */
export function answerComponent(
  { event }: EventState,
  date: CalendarDate | undefined,
  { address, at }: Writing,
  {
    sequence,
    own,
    comment,
  }: { readonly sequence: number; readonly own: Attendee; readonly comment: string | undefined },
): Component {
  const { title, start, end, end_at } = date ?? { ...event, end: endOf(event) }
  const organizer = event.organizer_email ?? ''
  return [
    'vevent',
    [
      text('uid', event.uid),
      ...answeredDate(event, date),
      ['sequence', {}, 'integer', sequence],
      instant('dtstamp', at),
      times('dtstart', event, start),
      endTime(event, { end, end_at }),
      text('summary', title),
      ['organizer', {}, 'cal-address', mailto(organizer)],
      ['attendee', answerParameters(own), 'cal-address', mailto(address)],
      ...(comment !== undefined && comment !== '' ? [text('comment', comment)] : []),
    ],
    [],
  ]
}

/** The date that an answer is about: of a series, or the one that is known without its series. */
function answeredDate(event: EventState['event'], date: CalendarDate | undefined): Property[] {
  if (date && event.kind === 'series') return [times('recurrence-id', event, date.slot)]
  const { recurrence_id: id } = event
  if (id === '') return []
  return [id.endsWith('Z') ? instant('recurrence-id', new Date(id)) : ['recurrence-id', {}, 'date', id]]
}

function vevent(
  { uid, source, organizer_email }: EventState['event'],
  { address, displayName, at }: Writing,
  written: Written & { readonly sequence: number },
  more: readonly Property[],
): Component {
  const { sequence, start, title, description, location, status, attendees } = written
  const organizer = source === 'api' ? address : organizer_email
  const name = source === 'api' ? parameter(displayName ?? address) : undefined
  return [
    'vevent',
    [
      text('uid', uid),
      ['sequence', {}, 'integer', sequence],
      instant('dtstamp', at),
      times('dtstart', written, start),
      endTime(written, written),
      ...more,
      text('summary', title),
      ...(description === null || description === '' ? [] : [text('description', description)]),
      ...(location === null || location === '' ? [] : [text('location', location)]),
      ['status', {}, 'text', status.toUpperCase()],
      ['transp', {}, 'text', 'OPAQUE'],
      ...(organizer === null ? [] : [organizerProperty(organizer, name)]),
      ...attendees.map(attendeeProperty),
    ],
    [],
  ]
}

function organizerProperty(address: string, name: string | undefined): Property {
  return ['organizer', name === undefined ? {} : { cn: name }, 'cal-address', mailto(address)]
}

function attendeeProperty({ email, name, status, role }: Attendee): Property {
  const parameters = {
    cutype: 'INDIVIDUAL',
    role: role === 'optional' ? 'OPT-PARTICIPANT' : 'REQ-PARTICIPANT',
    partstat: partstat(status),
    rsvp: 'TRUE',
    cn: parameter(name ?? '') || email,
  }
  return ['attendee', parameters, 'cal-address', mailto(email)]
}

function answerParameters({ name, status }: Attendee): Record<string, string> {
  const cn = parameter(name ?? '')
  return { partstat: partstat(status), ...(cn !== '' && { cn }) }
}

function partstat(status: AttendeeStatus): string {
  return status === 'needs_action' ? 'NEEDS-ACTION' : status.toUpperCase()
}

/** The address as it is: percent encoding of what a URI does not allow is read by few programs. */
function mailto(address: string): string {
  return `mailto:${address}`
}
