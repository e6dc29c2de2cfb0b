import { type CalendarDate, datesBetween } from '../../dates/index.ts'
import { datedId } from '../../model/dated-id.ts'
import type { EventRow, EventState } from '../../model/rows.ts'
import type { DatesRange } from './dates-page.ts'

/** A date of a series, or a one-off event, at its place in a list. */
export interface Found {
  readonly at: number
  readonly id: string
  readonly state: EventState
  /** Of a one-off undefined. */
  readonly date: CalendarDate | undefined
}

/** The order of lists of dates (calendar 8). */
export function inOrder(a: Found, b: Found): number {
  if (a.at !== b.at) return a.at - b.at
  return a.id < b.id ? -1 : Number(a.id > b.id)
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

export function oneOff(event: EventRow): Found {
  const state = { event, edits: [], begun: [], cancelled: [], responses: [] }
  return { at: event.start_at.getTime(), id: event.id, state, date: undefined }
}

function isAfter({ at, id }: Found, position: { readonly at: Date; readonly id: string }): boolean {
  const time = position.at.getTime()
  return at > time || (at === time && id > position.id)
}
