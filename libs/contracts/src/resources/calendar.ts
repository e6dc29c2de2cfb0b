import { z } from 'zod'
import { boundaryInstant, timezone, wallTime } from '../schemas/calendar.ts'
import { instant } from '../schemas/text.ts'
import {
  ATTENDEE_ROLES,
  ATTENDEE_STATUSES,
  DURATION_MODES,
  EVENT_KINDS,
  EVENT_SOURCES,
  EVENT_STATUSES,
} from '../vocabulary/calendar.ts'
import { inboxId, messageId } from '../vocabulary/ids.ts'

const etag = z.string().meta({ description: 'For `If-Match`; its quotes are part of it.', examples: ['"rv-0"'] })

/** The calendar of an inbox (calendar 3.1). */
export const calendar = z
  .object({
    inbox_id: inboxId,
    timezone,
    event_count: z.int().meta({ description: 'One-off and recurring events that are stored.' }),
    created_at: instant,
    updated_at: instant,
    etag,
  })
  .meta({ id: 'Calendar' })
export type Calendar = z.infer<typeof calendar>

/** A person, or another inbox, that an event is shared with (calendar 3.3). */
export const attendee = z
  .object({
    email: z.string(),
    name: z.string().optional(),
    status: z.enum(ATTENDEE_STATUSES),
    role: z.enum(ATTENDEE_ROLES),
    comment: z.string().optional(),
    responded_at: instant.optional(),
  })
  .meta({ id: 'Attendee' })
export type Attendee = z.infer<typeof attendee>

/** A date of a length of its own. */
const period = z.object({ start: wallTime, end: wallTime.optional(), duration: z.string().optional() })
export type RdatePeriod = z.infer<typeof period>

/** When an event repeats (calendar 3.4). */
export const recurrence = z
  .object({
    rule: z.string().meta({ description: 'RRULE of RFC 5545 in normal form.', examples: ['FREQ=WEEKLY;BYDAY=MO'] }),
    exdates: z.array(wallTime).optional(),
    rdates: z.array(z.union([wallTime, period])).optional(),
    truncate_before: wallTime.optional().meta({ description: 'No date at or after it.' }),
  })
  .meta({ id: 'Recurrence' })
export type Recurrence = z.infer<typeof recurrence>

/** An event, or one date of a series, in the form that all operations share (calendar 3.2). */
export const calendarEvent = z
  .object({
    event_id: z.string().meta({ description: 'UUID, or `<series>_tYYYYMMDDTHHMMSS` of a date.' }),
    kind: z.enum(EVENT_KINDS),
    series_id: z.guid().optional(),
    original_start: wallTime.optional().meta({ description: 'Of a date: its start before edits.' }),
    original_start_at: boundaryInstant.optional(),
    is_exception: z.boolean().optional().meta({ description: 'Of a date: whether it was edited.' }),
    title: z.string(),
    description: z.string().optional(),
    location: z.string().optional(),
    metadata: z.unknown().optional(),
    status: z.enum(EVENT_STATUSES),
    all_day: z.boolean(),
    start: wallTime,
    end: wallTime.meta({ description: 'Of whole days: the last day.' }),
    timezone,
    duration_mode: z.enum(DURATION_MODES),
    duration_value: z.int().meta({ description: 'Milliseconds, or of whole days their number.' }),
    start_at: boundaryInstant,
    end_at: boundaryInstant,
    recurrence: recurrence.optional(),
    attendees: z.array(attendee).optional(),
    attendee_count: z.int(),
    response_status: z.enum(ATTENDEE_STATUSES).optional().meta({
      description: 'What the inbox has answered; of an invitation of somebody else that lists it.',
    }),
    uid: z.string().meta({ description: 'UID of iCalendar; the dates of a series share it.' }),
    sequence: z.int(),
    source: z.enum(EVENT_SOURCES),
    organizer_email: z.string().optional(),
    origin_message_id: messageId.optional(),
    resource_revision: z.int().optional(),
    created_at: instant,
    updated_at: instant,
    etag: etag.optional(),
  })
  .meta({ id: 'CalendarEvent' })
export type CalendarEvent = z.infer<typeof calendarEvent>

/** Answer of a change (calendar 2). */
export const calendarMutation = z
  .object({ event: calendarEvent, operation_id: z.guid().meta({ description: '`event_id` of the event about it.' }) })
  .meta({ id: 'CalendarMutation' })
export type CalendarMutation = z.infer<typeof calendarMutation>

/** Answer of a deletion: of a whole event, or of dates (calendar 7). */
export const calendarDeletion = z
  .object({
    deletion_id: z.guid().optional(),
    event: calendarEvent.optional(),
    operation_id: z.guid().optional(),
  })
  .meta({ id: 'CalendarDeletion', description: '`deletion_id` of a whole event; else the cancelled date.' })
export type CalendarDeletion = z.infer<typeof calendarDeletion>

/** When an inbox is busy, without what with. */
export const busyTimes = z
  .array(
    z.object({
      start_at: boundaryInstant,
      end_at: boundaryInstant,
      status: z.enum(['busy', 'tentative']),
    }),
  )
  .meta({ id: 'BusyTimes', description: 'Apart from each other, in order, within the window.' })
export type BusyTimes = z.infer<typeof busyTimes>
