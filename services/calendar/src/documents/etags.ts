import { ApiError } from '@restante/service/errors'
import type { IfMatch } from '@restante/service/http'
import type { CalendarRow, EventRow, EventState } from '../model/rows.ts'

/** The entity tag of a calendar (calendar 13.1). The number of its events is no part of it. */
export function etagOfCalendar({ revision }: Pick<CalendarRow, 'revision'>): string {
  return `"rv-${revision}"`
}

/** The entity tag of a one-off event or a series. A change of one date alone leaves it as it is. */
export function etagOfEvent({ revision }: Pick<EventRow, 'revision'>): string {
  return `"rv-${revision}"`
}

/**
 * The entity tag of one date: a change of its series, or of any date of it, changes the tags of all its dates
 * (calendar 13.1).
 */
export function etagOfDate({ event, edits }: Pick<EventState, 'event' | 'edits'>, slot: string): string {
  const single = edits.find((edit) => edit.mode === 'single' && edit.slot === slot)
  return `"occ-${event.revision}-${event.edits_revision}-${single?.revision ?? 'none'}"`
}

/**
 * Requires that a resource is what its caller has seen (calendar 13.1).
 * @param revision of the calendar, the event, or the series of a date.
 * @throws ApiError 412 with the revision when none of the tags is that of the resource.
 */
export function requireMatch(ifMatch: IfMatch | undefined, etag: string, revision: number): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch.includes(etag)) return
  throw new ApiError('precondition_failed', { details: { current_revision: revision } })
}
