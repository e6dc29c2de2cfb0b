import { z } from 'zod'
import { BASE, define, group, idParam } from '../../definition/define.ts'
import { calendarDeletion, calendarEvent, calendarMutation } from '../../resources/calendar.ts'
import { PAGE } from '../../resources/page.ts'
import {
  attendeesInput,
  durationMode,
  eventDescription,
  eventLocation,
  eventMetadata,
  eventStatus,
  eventTitle,
  recurrenceInput,
  responseComment,
  timezone,
  wallTime,
  withoutNull,
} from '../../schemas/calendar.ts'
import { queryBoolean, queryText } from '../../schemas/query.ts'
import { clientId } from '../../schemas/text.ts'
import { CALENDAR_LIMITS, RESPONSES } from '../../vocabulary/calendar.ts'
import { consistency, datesQuery, OF_INBOX } from './parts.ts'

const params = z.object({ event_id: idParam })
const bodyLimit = { bytes: CALENDAR_LIMITS.eventBody, answer: 'payload_too_large' } as const
const mode = queryText(16)
  .optional()
  .meta({ description: 'Of a date: `single` (default), or `future` for all later ones.' })
const listed = z.object({ ...PAGE, limit: z.int(), events: z.array(calendarEvent) }).meta({ id: 'CalendarEventList' })

const sendInvites = z.boolean().optional().meta({ description: 'Mail it to every attendee. Default: false.' })

/** Fields of a new event (calendar 5). What depends on others, such as the form of times, is checked by the service. */
const createBody = z.object({
  title: eventTitle,
  start: wallTime,
  end: wallTime,
  description: eventDescription.optional(),
  location: eventLocation.optional(),
  metadata: eventMetadata.optional(),
  status: eventStatus.optional(),
  all_day: z.boolean().optional(),
  timezone: timezone.optional(),
  duration_mode: durationMode.optional(),
  recurrence: recurrenceInput.optional(),
  attendees: attendeesInput.optional(),
  send_invites: sendInvites,
  client_id: clientId.optional(),
})
export type CreateEventBody = z.output<typeof createBody>

/** Fields to change; null clears some of them, and is an error for the others (calendar 6). */
const updateBody = z.object({
  title: withoutNull(eventTitle),
  description: eventDescription.nullable().optional(),
  location: eventLocation.nullable().optional(),
  metadata: eventMetadata.nullable().optional(),
  status: withoutNull(eventStatus),
  all_day: withoutNull(z.boolean()),
  timezone: withoutNull(timezone),
  duration_mode: withoutNull(durationMode),
  start: withoutNull(wallTime),
  end: withoutNull(wallTime),
  recurrence: recurrenceInput.nullable().optional(),
  attendees: withoutNull(attendeesInput),
  send_invites: sendInvites,
})
export type UpdateEventBody = z.output<typeof updateBody>

const respondBody = z.object({
  status: z.enum(RESPONSES),
  comment: responseComment.optional(),
  send_reply: z.boolean().optional().meta({ description: 'Mail it to the organizer. Default: true.' }),
})
export type RespondBody = z.output<typeof respondBody>

const CHANGE_ERRORS = ['forbidden', 'event_expired', 'precondition_failed', 'race_condition'] as const

/** Events of a calendar, and the dates of those that repeat (calendar 2). */
export const calendarEventOperations = group({
  'calendarEvents.list': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.list',
    method: 'GET',
    path: '/calendar/events',
    permission: 'calendar_event_read',
    summary: 'List stored events and edited dates, last changed first; with `expand=true` the agenda',
    errors: ['forbidden', 'query_range_too_wide'],
    query: z.object({
      ...datesQuery,
      // A list of stored events ignores it (calendar 8).
      consistency: z.unknown().optional(),
      expand: queryBoolean.optional().meta({ description: 'Older spelling of the agenda.' }),
    }),
    response: listed,
  }),
  'calendarEvents.agenda': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.agenda',
    method: 'GET',
    path: '/calendar/agenda',
    permission: 'calendar_event_read',
    summary: 'List every date within a window in the order of their starts, of events that repeat too',
    errors: ['forbidden', 'query_range_too_wide'],
    query: z.object(datesQuery),
    response: listed,
  }),
  'calendarEvents.create': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.create',
    method: 'POST',
    path: '/calendar/events',
    permission: 'calendar_event_create',
    summary: 'Create an event; with `send_invites` its attendees are invited by mail',
    errors: [
      'forbidden',
      'idempotency_conflict',
      'race_condition',
      'recurrence_density_limit',
      'materialization_failed',
      'calendar_inbox_required',
    ],
    body: createBody,
    bodyLimit,
    response: calendarMutation,
    status: 201,
    etag: 'sent',
  }),
  'calendarEvents.get': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.get',
    method: 'GET',
    path: '/calendar/events/{event_id}',
    permission: 'calendar_event_read',
    summary: 'Get an event, or one date of a series',
    errors: ['forbidden', 'event_expired'],
    params,
    query: z.object({ consistency }),
    response: calendarEvent,
    etag: 'sent',
  }),
  'calendarEvents.update': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.update',
    method: 'PATCH',
    path: '/calendar/events/{event_id}',
    permission: 'calendar_event_update',
    summary: 'Change an event, one date of a series, or a date and all later ones',
    errors: [
      ...CHANGE_ERRORS,
      'event_starting',
      'event_already_started',
      'event_in_progress',
      'future_edit_start_move_not_supported',
      'recurrence_density_limit',
      'materialization_failed',
      'calendar_response_invalid',
      'calendar_inbox_required',
    ],
    params,
    query: z.object({ mode }),
    body: updateBody,
    bodyLimit,
    response: calendarMutation,
    etag: 'checked',
  }),
  'calendarEvents.delete': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.delete',
    method: 'DELETE',
    path: '/calendar/events/{event_id}',
    permission: 'calendar_event_delete',
    summary: 'Delete an event, cancel one date, or end a series at a date',
    errors: [
      ...CHANGE_ERRORS,
      'idempotency_conflict',
      'event_already_started',
      'event_in_progress',
      'calendar_response_invalid',
      'calendar_inbox_required',
    ],
    params,
    query: z.object({ mode, send_invites: queryBoolean.optional() }),
    response: calendarDeletion,
    status: 202,
    idempotencyKey: 'calendar',
    etag: 'checked',
  }),
  'calendarEvents.listInstances': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.listInstances',
    method: 'GET',
    path: '/calendar/events/{event_id}/instances',
    permission: 'calendar_event_read',
    summary: 'List the dates of one series within a window',
    errors: ['forbidden', 'query_range_too_wide', 'page_token_stale'],
    params,
    query: z.object(datesQuery),
    response: listed,
  }),
  'calendarEvents.respond': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendarEvents.respond',
    method: 'POST',
    path: '/calendar/events/{event_id}/respond',
    permission: 'calendar_event_update',
    summary: 'Answer an invitation, for all dates or for one; the organizer gets it by mail',
    errors: [...CHANGE_ERRORS, 'calendar_response_invalid', 'calendar_inbox_required'],
    params,
    body: respondBody,
    bodyLimit,
    response: calendarMutation,
    etag: 'checked',
  }),
})
