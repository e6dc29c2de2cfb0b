import type { CalendarEvent } from '@restante/contracts/resources'

/** The form of a document in the agenda and in the list of dates (calendar 3.2). */
export function itemOf(document: CalendarEvent): CalendarEvent {
  const { description, metadata, attendees, resource_revision, etag, ...item } = document
  return item
}

/** The form of a document in public events (calendar 17). */
export function forEvent(document: CalendarEvent): CalendarEvent {
  const { etag, ...shown } = document
  return shown
}

/** The form of a document in the events of its start and its end (calendar 17). */
export function forBoundary(document: CalendarEvent): CalendarEvent {
  const { resource_revision, etag, ...shown } = document
  return shown
}

/** The document of a date that was taken out of its series (calendar 7), without its entity tag. */
export function cancelledDate(document: CalendarEvent): CalendarEvent {
  const { description, metadata, attendees, etag, ...shown } = document
  return { ...shown, status: 'cancelled' }
}
