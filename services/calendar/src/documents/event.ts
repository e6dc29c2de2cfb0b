import type { Attendee, CalendarEvent, Recurrence } from '@restante/contracts/resources'
import { endOf } from '../dates/index.ts'
import type { EventRow, EventState, Schedule } from '../model/rows.ts'
import { etagOfEvent } from './etags.ts'
import { boundaryInstant } from './instants.ts'

export interface DocumentOptions {
  /** Of the inbox. */
  readonly address: string
  /** Lists and events go without (calendar 3.2). */
  readonly etag: boolean
}

/** The public document of a one-off event or a series (calendar 3.2). */
export function eventDocument({ event }: Pick<EventState, 'event'>, { address, etag }: DocumentOptions): CalendarEvent {
  const recurrence = recurrenceOf(event)
  return {
    event_id: event.id,
    kind: event.kind,
    ...textMembers(event),
    ...scheduleMembers(event, { start_at: event.start_at, end_at: event.end_at, end: endOf(event) }),
    ...(recurrence && { recurrence }),
    ...attendeeMembers(event, event.attendees, address),
    ...sourceMembers(event),
    sequence: event.sequence,
    resource_revision: event.revision,
    created_at: event.created_at.toISOString(),
    updated_at: event.updated_at.toISOString(),
    ...(etag && { etag: etagOfEvent(event) }),
  }
}

/** When a series repeats, as it is shown (calendar 3.4); undefined of a one-off. */
export function recurrenceOf({ rule, exdates, rdates, truncate_before }: EventRow): Recurrence | undefined {
  if (rule === null) return undefined
  return {
    rule,
    ...(exdates.length > 0 && { exdates: [...exdates] }),
    ...(rdates.length > 0 && { rdates: [...rdates] }),
    ...(truncate_before !== null && { truncate_before }),
  }
}

/** Title, status, and what is shown only when it is set (identity 1.2). */
export function textMembers({
  title,
  description,
  location,
  metadata,
  status,
}: Pick<EventRow, 'title' | 'description' | 'location' | 'metadata' | 'status'>) {
  return {
    title,
    ...(description !== null && description !== '' && { description }),
    ...(location !== null && location !== '' && { location }),
    ...(metadata !== null && metadata !== undefined && { metadata }),
    status,
  }
}

export function scheduleMembers(
  { all_day, start, timezone, duration_mode, duration_value }: Schedule,
  { end, start_at, end_at }: { readonly end: string; readonly start_at: Date; readonly end_at: Date },
) {
  return {
    all_day,
    start,
    end,
    timezone,
    duration_mode,
    duration_value,
    start_at: boundaryInstant(start_at),
    end_at: boundaryInstant(end_at),
  }
}

/** The attendees, and of an invitation of somebody else what the inbox has answered (calendar 3.2). */
export function attendeeMembers({ source }: EventRow, attendees: readonly Attendee[], address: string) {
  const own = source === 'email' ? attendees.find(({ email }) => email === address) : undefined
  return {
    attendees: [...attendees],
    attendee_count: attendees.length,
    ...(own && { response_status: own.status }),
  }
}

export function sourceMembers({ uid, source, organizer_email, origin_message_id }: EventRow) {
  return {
    uid,
    source,
    ...(organizer_email !== null && { organizer_email }),
    ...(origin_message_id !== null && { origin_message_id }),
  }
}
