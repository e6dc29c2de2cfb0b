import type { CalendarEvent } from '@restante/contracts/resources'
import type { CalendarDate } from '../dates/index.ts'
import { datedId } from '../model/dated-id.ts'
import type { EventState } from '../model/rows.ts'
import { etagOfDate } from './etags.ts'
import {
  attendeeMembers,
  type DocumentOptions,
  eventDocument,
  scheduleMembers,
  sourceMembers,
  textMembers,
} from './event.ts'
import { boundaryInstant } from './instants.ts'

/** The public document of one date, with its edits (calendar 3.2). The only date of a one-off is the event itself. */
export function dateDocument(state: EventState, date: CalendarDate, options: DocumentOptions): CalendarEvent {
  const { event } = state
  if (event.kind === 'single') return eventDocument(state, options)
  const definition = date.single ?? date.future.at(-1) ?? event
  return {
    event_id: datedId(event.id, date.slot),
    kind: 'instance',
    series_id: event.id,
    original_start: date.slot,
    original_start_at: boundaryInstant(date.original_start_at),
    is_exception: date.is_exception,
    ...textMembers(date),
    ...scheduleMembers(date, date),
    ...attendeeMembers(event, date.attendees, options.address),
    ...sourceMembers(event),
    sequence: sequenceOf(state, date),
    created_at: definition.created_at.toISOString(),
    updated_at: definition.updated_at.toISOString(),
    ...(options.etag && { etag: etagOfDate(state, date.slot) }),
  }
}

/**
 * The sequence of a date: that of its series, unless a change of the date itself, or of all dates from an earlier one on,
 * was sent with a higher one (calendar 14.3).
 */
export function sequenceOf(
  { event }: Pick<EventState, 'event'>,
  { single, future }: Pick<CalendarDate, 'single' | 'future'>,
): number {
  return Math.max(event.sequence, single?.sequence ?? 0, ...future.map(({ sequence }) => sequence))
}
