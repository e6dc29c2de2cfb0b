import type { Attendee } from '@restante/contracts/resources'
import { normalizeAddress } from '@restante/mime'
import type { CalendarDate } from '../../dates/date.ts'
import { dateAt } from '../../dates/index.ts'
import { sequenceOf } from '../../documents/date.ts'
import {
  type Component,
  calendarObject,
  dateComponent,
  eventComponent,
  type Method,
  nextDates,
  seriesComponents,
  type Writing,
} from '../../icalendar/write/index.ts'
import type { EditRow, EventState } from '../../model/rows.ts'
import { nextSequence } from '../../model/sequence.ts'
import { answerOf } from './answer.ts'
import type { PlannedMail, SentChange } from './change.ts'
import { mailedAttendees } from './recipients.ts'
import { type Told, textOf, toldDate, toldEvent } from './text.ts'

type Of<Kind extends SentChange['kind']> = Extract<SentChange, { readonly kind: Kind }>

/** The mails that tell of a change (calendar 14.2), for `Invitations.queue`. */
export function mailsFor(change: SentChange): PlannedMail[] {
  switch (change.kind) {
    case 'event':
      return eventMails(change)
    case 'date':
      return change.mode === 'single' ? dateMails(change) : laterDatesMails(change)
    case 'deleted':
      return deletionMails(change)
    case 'date-cancelled':
      return change.mode === 'single' ? cancelledDateMails(change) : endMails(change)
    case 'reply':
      return answerOf(change)
  }
}

/** An edit that attendees were told of has a sequence (calendar 14.3). */
const wasSent = ({ sequence }: EditRow): boolean => sequence > 0

function eventMails({ before, after, ...writing }: Of<'event'>): PlannedMail[] {
  const { event } = after
  const cancel = (attendees: readonly Attendee[]) => [
    eventComponent(after, writing, { status: 'cancelled', attendees }),
  ]
  // A request has no status cancelled (RFC 5546 3.2.2): programs would show the event as if it took place.
  const mails =
    event.status === 'cancelled'
      ? cancellation(after, writing, event.attendees, toldEvent(event), cancel(event.attendees))
      : request(after, writing, event.attendees, toldEvent(event), seriesComponents(after, writing, wasSent))
  if (!before) return mails
  const removed = missing(before.event.attendees, event.attendees)
  const gone = (attendees: readonly Attendee[]) => [
    eventComponent(before, writing, { sequence: event.sequence, status: 'cancelled', attendees }),
  ]
  return [...mails, ...removals(removed, before, writing, toldEvent(before.event), gone)]
}

function dateMails({ slot, before, after, ...writing }: Of<'date'>): PlannedMail[] {
  const date = dateAt(after, slot)
  if (!date) return []
  const cancel = (attendees: readonly Attendee[]) => [
    dateComponent(after, date, writing, { status: 'cancelled', attendees }),
  ]
  const mails =
    date.status === 'cancelled'
      ? cancellation(after, writing, date.attendees, toldDate(date), cancel(date.attendees))
      : request(after, writing, date.attendees, toldDate(date), [dateComponent(after, date, writing)])
  const known = dateAt(before, slot)
  return known ? [...mails, ...dateRemovals({ before, after, writing }, known, date, [date])] : mails
}

/** Of dates, as those who were removed know them. */
function dateRemovals(
  { before, after, writing }: { readonly before: EventState; readonly after: EventState; readonly writing: Writing },
  known: CalendarDate,
  date: CalendarDate,
  dates: readonly CalendarDate[],
): PlannedMail[] {
  const removed = missing(known.attendees, date.attendees)
  return removals(removed, before, writing, toldDate(known), (attendees) =>
    dates.flatMap((each) => {
      const past = dateAt(before, each.slot)
      const changes = { sequence: sequenceOf(after, each), status: 'cancelled', attendees } as const
      return past ? [dateComponent(before, past, writing, changes)] : []
    }),
  )
}

function laterDatesMails({ slot, before, after, ...writing }: Of<'date'>): PlannedMail[] {
  const date = dateAt(after, slot)
  if (!date) return []
  const written = (edit: EditRow) => wasSent(edit) || (edit.mode === 'future' && edit.slot === slot)
  const components = seriesComponents(after, writing, written, slot)
  const mails = request(after, writing, date.attendees, toldDate(date), components, LATER)
  const known = dateAt(before, slot)
  if (!known) return mails
  const next = nextDates(after, slot, writing.at)
  return [...mails, ...dateRemovals({ before, after, writing }, known, date, next)]
}

const LATER = 'This date and all later ones were changed.'

function deletionMails({ before, ...writing }: Of<'deleted'>): PlannedMail[] {
  const { event, edits } = before
  const sequence = nextSequence(Math.max(event.sequence, ...edits.map((edit) => edit.sequence)))
  const component = eventComponent(before, writing, { sequence, status: 'cancelled' })
  return cancellation(before, writing, event.attendees, toldEvent(event), [component])
}

function cancelledDateMails({ slot, before, after, ...writing }: Of<'date-cancelled'>): PlannedMail[] {
  const date = dateAt(before, slot)
  if (!date) return []
  const sequence = Math.max(nextSequence(sequenceOf(before, date)), after.event.sequence)
  const component = dateComponent(before, date, writing, { sequence, status: 'cancelled' })
  return cancellation(before, writing, date.attendees, toldDate(date), [component])
}

/** No program reads that a series is cancelled from a date on; all read that it ends. */
function endMails({ slot, before, after, ...writing }: Of<'date-cancelled'>): PlannedMail[] {
  const date = dateAt(before, slot)
  if (!date) return []
  const components = seriesComponents(after, writing, wasSent)
  const mails = request(after, writing, date.attendees, toldDate(date), components, ENDED)
  return mails.map((mail) => ({ ...mail, about: 'cancellation' }))
}

const ENDED = 'This date and all later ones were canceled.'

interface Writer {
  readonly address: string
}

function request(
  state: EventState,
  writer: Writer,
  attendees: readonly Attendee[],
  told: Told,
  components: readonly Component[],
  first?: string,
): PlannedMail[] {
  const content = { about: 'invitation', method: 'REQUEST', text: textOf(told, first) } as const
  return mails(state, writer, attendees, { ...content, title: told.title, components })
}

function cancellation(
  state: EventState,
  writer: Writer,
  attendees: readonly Attendee[],
  told: Told,
  components: readonly Component[],
): PlannedMail[] {
  const content = { about: 'cancellation', method: 'CANCEL', text: textOf(told, CANCELED) } as const
  return mails(state, writer, attendees, { ...content, title: told.title, components })
}

const CANCELED = 'This event has been canceled.'

/** Whoever is no longer invited is told so alone, without who else is, and without what was changed with it. */
function removals(
  removed: readonly Attendee[],
  state: EventState,
  writer: Writer,
  told: Told,
  components: (attendees: readonly Attendee[]) => readonly Component[],
): PlannedMail[] {
  return removed.flatMap((attendee) =>
    cancellation(state, writer, [attendee], told, components([attendee])).map((mail) => ({
      ...mail,
      text: textOf(told, 'You are no longer invited to this event.'),
      only_invited: true,
    })),
  )
}

interface Content extends Pick<PlannedMail, 'about' | 'title' | 'text'> {
  readonly method: Method
  readonly components: readonly Component[]
}

/** One mail to each attendee, all with the same object. */
function mails(
  { event }: EventState,
  { address }: Writer,
  attendees: readonly Attendee[],
  { components, ...content }: Content,
): PlannedMail[] {
  if (components.length === 0) return []
  const calendar = calendarObject(content.method, components)
  return mailedAttendees(attendees, address).map(({ email, name }) => ({
    event_id: event.id,
    inbox_uid: event.inbox_uid,
    organization_id: event.organization_id,
    address,
    recipient: normalizeAddress(email),
    recipient_name: name ?? null,
    ...content,
    calendar,
    only_invited: false,
    in_reply_to: null,
  }))
}

function missing(before: readonly Attendee[], after: readonly Attendee[]): Attendee[] {
  const kept = new Set(after.map(({ email }) => normalizeAddress(email)))
  return before.filter(({ email }) => !kept.has(normalizeAddress(email)))
}
