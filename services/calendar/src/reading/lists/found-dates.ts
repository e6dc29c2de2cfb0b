import { type CalendarDate, datesBetween } from '../../dates/index.ts'
import { datedId } from '../../model/dated-id.ts'
import type { EventRow, EventState } from '../../model/rows.ts'
import type { DatesRange } from './dates-page.ts'
import type { FirstDates } from './first-dates.ts'
import type { Place, Sequence } from './merge.ts'

/** A date of a series, or a one-off event, at its place in a list. */
export interface Found extends Place {
  readonly state: EventState
  /** Of a one-off undefined. */
  readonly date: CalendarDate | undefined
}

/** The dates of a series from a place on, without those that are cancelled; computed as they are asked for. */
export function* datesFrom(state: EventState, { window, includeOverlapping, position }: DatesRange): Generator<Found> {
  if (state.event.status === 'cancelled') return
  for (const date of datesBetween(state, { ...window, includeOverlapping })) {
    if (date.status === 'cancelled') continue
    const found = { at: date.start_at.getTime(), id: datedId(state.event.id, date.slot), state, date }
    if (position === undefined || isAfter(found, position)) yield found
  }
}

/** The same as a part of an agenda. */
export function sequenceOf(state: EventState, range: DatesRange, first: FirstDates): Sequence<Found> {
  const { after } = range.window
  return { atLeast: first.atLeast(state, after), elements: remembering(state, range, first) }
}

function* remembering(state: EventState, range: DatesRange, first: FirstDates): Generator<Found> {
  // Only such a range has all dates that end after the begin of its window.
  let isFirst = range.includeOverlapping && range.position === undefined
  const { after, before } = range.window
  for (const found of datesFrom(state, range)) {
    if (isFirst) first.remember(state, after, found.at)
    isFirst = false
    yield found
  }
  if (isFirst) first.remember(state, after, before.getTime())
}

export function oneOff(event: EventRow): Found {
  const state = { event, edits: [], begun: [], cancelled: [], responses: [] }
  return { at: event.start_at.getTime(), id: event.id, state, date: undefined }
}

function isAfter({ at, id }: Found, position: { readonly at: Date; readonly id: string }): boolean {
  const time = position.at.getTime()
  return at > time || (at === time && id > position.id)
}
