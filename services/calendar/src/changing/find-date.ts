import { ApiError, notFound } from '@restante/service/errors'
import { type CalendarDate, dateAt, slotState } from '../dates/index.ts'
import { type EventReference, readEventId } from '../model/dated-id.ts'
import type { EventState } from '../model/rows.ts'

/** @throws ApiError 404 for what is no id of an event or a date. */
export function referenceOf(id: string): EventReference {
  const reference = readEventId(id)
  if (reference === undefined) throw notFound('Event')
  return reference
}

/**
 * The date of a series that a request is about (calendar 8).
 * @throws ApiError 404 for what never was one; 410 for one that was taken out, or ended more than 30 days ago.
 */
export function requireDate(state: EventState, slot: string, now: Date): CalendarDate {
  if (state.event.kind === 'single') throw notFound('Event')
  const found = slotState(state, slot, now)
  if (found === 'none') throw notFound('Event')
  const date = found === 'live' ? dateAt(state, slot) : undefined
  if (date === undefined) throw new ApiError('event_expired')
  return date
}
