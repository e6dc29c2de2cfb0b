import type { Attendee } from '@restante/contracts/resources'
import type { EventStatus } from '@restante/contracts/vocabulary'
import { Zone } from '@restante/recurrence'
import type { BegunDateRow, EditedFields, EditRow, EventState, Schedule } from '../model/rows.ts'
import type { CalendarDate } from './date.ts'
import type { Slot } from './slots.ts'
import { dateOf, isBeyondCalendars, shownEnd, spanOf, YEAR_10000 } from './times/schedule.ts'
import { textOf, wallOf } from './times/wall.ts'

/** Makes the dates of an event of what is stored of it: single edit before edit of later dates before series (calendar 11). */
export class Composer {
  readonly singles: ReadonlyMap<string, EditRow>
  readonly begun: ReadonlyMap<string, BegunDateRow>
  readonly #state: EventState
  readonly #futures: readonly EditRow[]

  constructor(state: EventState) {
    const { edits, begun } = state
    this.#state = state
    this.singles = new Map(edits.filter(({ mode }) => mode === 'single').map((edit) => [edit.slot, edit]))
    this.#futures = edits.filter(({ mode }) => mode === 'future').sort((a, b) => (a.slot < b.slot ? -1 : 1))
    this.begun = new Map(begun.map((row) => [row.slot, row]))
  }

  /** The only date of a one-off event. */
  oneOff(): CalendarDate {
    const { event } = this.#state
    const given = { single: undefined, future: [], begun: this.begun.get('') }
    const span = spanOf(Zone.of(event.timezone), wallOf(event.start), event)
    return this.#date('', { schedule: event, ...given }, { ...span, original: span.startAt })
  }

  /** The date of a slot that the series has. @returns undefined when it would not be over by the end of the year 9999. */
  produced({ wall, length }: Slot): CalendarDate | undefined {
    const { event } = this.#state
    const slot = textOf(wall, event.all_day)
    const begun = this.begun.get(slot)
    if (begun !== undefined) return this.ran(begun)
    const [single, future] = [this.singles.get(slot), this.#futureOf(slot)]
    const schedule: Schedule = {
      all_day: event.all_day,
      start: single?.fields.start ?? slot,
      timezone: event.timezone,
      duration_mode: latest('duration_mode', single, future) ?? event.duration_mode,
      duration_value: latest('duration_value', single, future) ?? length ?? event.duration_value,
    }
    const zone = Zone.of(event.timezone)
    const start = schedule.start === slot ? wall : wallOf(schedule.start)
    const span = spanOf(zone, start, schedule)
    const original = start === wall ? span.startAt : zone.instantOf(wall)
    if (original >= YEAR_10000 || isBeyondCalendars(span, event.all_day)) return undefined
    return this.#date(slot, { schedule, single, future, begun }, { ...span, original })
  }

  /** A date that has begun, as it ran. */
  ran(begun: BegunDateRow): CalendarDate {
    const { slot } = begun
    const zone = Zone.of(begun.timezone)
    const { end } = spanOf(zone, wallOf(begun.start), begun)
    const given = { schedule: begun, single: this.singles.get(slot), future: this.#futureOf(slot), begun }
    const original = zone.instantOf(wallOf(slot === '' ? begun.start : slot))
    const [startAt, endAt] = [begun.start_at.getTime() / 1_000, begun.end_at.getTime() / 1_000]
    return this.#date(slot, given, { startAt, endAt, end, original })
  }

  #date(
    slot: string,
    {
      schedule,
      single,
      future,
      begun,
    }: { readonly schedule: Schedule } & Pick<CalendarDate, 'single' | 'future' | 'begun'>,
    {
      startAt,
      endAt,
      end,
      original,
    }: { readonly startAt: number; readonly endAt: number; readonly end: number; readonly original: number },
  ): CalendarDate {
    const { event } = this.#state
    const of = <Name extends keyof EditedFields>(name: Name) => latest(name, single, future)
    const [description, location, metadata] = [of('description'), of('location'), of('metadata')]
    return {
      slot,
      original_start_at: dateOf(original),
      all_day: schedule.all_day,
      start: schedule.start,
      end: shownEnd(end, schedule.all_day),
      timezone: schedule.timezone,
      duration_mode: schedule.duration_mode,
      duration_value: schedule.duration_value,
      start_at: dateOf(startAt),
      end_at: dateOf(endAt),
      title: of('title') ?? event.title,
      description: description === undefined ? event.description : description,
      location: location === undefined ? event.location : location,
      metadata: metadata === undefined ? event.metadata : metadata,
      status: this.#statusOf(begun, of('status')),
      attendees: this.#answered(slot, of('attendees') ?? event.attendees),
      is_exception: single !== undefined || future.length > 0,
      single,
      future,
      begun,
    }
  }

  /** A series that is cancelled silences all its dates (calendar 7), those included whose status was edited before. */
  #statusOf(begun: BegunDateRow | undefined, edited: EventStatus | undefined): EventStatus {
    const { event } = this.#state
    if (begun !== undefined && begun.slot !== '') return begun.status
    return event.status === 'cancelled' ? event.status : (edited ?? event.status)
  }

  #futureOf(slot: string): readonly EditRow[] {
    if (this.#futures.length === 0) return this.#futures
    return this.#futures.filter((edit) => edit.slot <= slot)
  }

  #answered(slot: string, attendees: readonly Attendee[]): readonly Attendee[] {
    const { responses } = this.#state
    if (responses.length === 0) return attendees
    const answers = new Map(responses.filter((answer) => answer.slot === slot).map((each) => [each.email, each]))
    if (answers.size === 0) return attendees
    return attendees.map((attendee) => {
      const answer = answers.get(attendee.email)
      if (answer === undefined) return attendee
      const { comment, ...rest } = attendee
      return {
        ...rest,
        status: answer.status,
        ...(answer.comment !== null && { comment: answer.comment }),
        responded_at: answer.responded_at.toISOString(),
      }
    })
  }
}

/** What an edit says of a field: the one of the date itself, else the latest that governs it. */
function latest<Name extends keyof EditedFields>(
  name: Name,
  single: EditRow | undefined,
  future: readonly EditRow[],
): EditedFields[Name] | undefined {
  if (single === undefined && future.length === 0) return undefined
  const own = single?.fields[name]
  if (own !== undefined) return own
  for (let index = future.length - 1; index >= 0; index--) {
    const value = future[index]?.fields[name]
    if (value !== undefined) return value
  }
  return undefined
}
