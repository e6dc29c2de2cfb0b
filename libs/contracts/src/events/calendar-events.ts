import { z } from 'zod'
import { calendarEvent } from '../resources/calendar.ts'
import { boundaryInstant } from '../schemas/calendar.ts'
import { mailScope } from '../schemas/mail-scope.ts'
import { inboxId, messageId } from '../vocabulary/ids.ts'
import { definePublicTopic, routingWithin } from './definition/topic.ts'

/** An event of a calendar as public events show it: without its etag. */
const shown = calendarEvent.omit({ etag: true }).meta({ id: 'CalendarEventInEvent' })

function envelope<const Type extends string>(type: Type) {
  return {
    type: z.literal('event'),
    event_type: z.literal(type),
    event_id: z.string().meta({
      description: '`operation_id` or `deletion_id` of the request; of boundaries `<date>.start` and `<date>.end`.',
    }),
    inbox_id: inboxId,
    calendar_event: shown,
  }
}

/** Fields of which a change of an event or series shows the earlier values (calendar 17). */
export const PREVIOUS_FIELDS = [
  'title',
  'description',
  'location',
  'metadata',
  'status',
  'all_day',
  'start',
  'end',
  'timezone',
  'duration_mode',
  'recurrence',
  'attendees',
] as const

const previous = calendarEvent
  .pick({
    title: true,
    description: true,
    location: true,
    metadata: true,
    status: true,
    all_day: true,
    start: true,
    end: true,
    timezone: true,
    duration_mode: true,
    recurrence: true,
    attendees: true,
  })
  .partial()
  .meta({ id: 'CalendarEventBefore', description: 'Earlier values of the fields that changed.' })

function boundary<const Type extends 'calendar.event.starting' | 'calendar.event.ending'>(type: Type) {
  return z.object({ ...envelope(type), scheduled_at: boundaryInstant })
}

/** The calendar that an event is about. */
export interface CalendarFacts {
  readonly organization_id: string
  readonly pod_id: string
  readonly inbox_uid: string
  /** The event, or the message, that can be searched for. */
  readonly subject: string
}

/** The exact public documents, and what mail-ingest learns of invitations (calendar 17). */
export const calendarEventsTopic = definePublicTopic({
  name: 'calendar.events',
  producer: 'calendar',
  summary: 'Public events of calendars, byte for byte as webhooks and streams get them; which mails were applied.',
  key: 'inbox_uid',
  subject: (facts: CalendarFacts) => facts.subject,
  routing: routingWithin,
  events: {
    'calendar.event.created': {
      schema: z.object(envelope('calendar.event.created')),
      public: true,
      summary: 'An event was created or an invitation imported; the first edit of one date.',
    },
    'calendar.event.updated': {
      schema: z.object({ ...envelope('calendar.event.updated'), previous: previous.optional() }),
      public: true,
      summary: 'An event or a date was changed, or a date cancelled.',
    },
    'calendar.event.deleted': {
      schema: z.object(envelope('calendar.event.deleted')),
      public: true,
      summary: 'A one-off event or a series was deleted.',
    },
    'calendar.event.responded': {
      schema: z.object(envelope('calendar.event.responded')),
      public: true,
      summary: 'The inbox answered an invitation, or an attendee answered one of its own.',
    },
    'calendar.event.starting': {
      schema: boundary('calendar.event.starting'),
      public: true,
      summary: 'The start of an event was reached.',
    },
    'calendar.event.ending': {
      schema: boundary('calendar.event.ending'),
      public: true,
      summary: 'The end of an event was reached.',
    },
    'invitation.applied': {
      schema: z.object({
        ...mailScope,
        message_id: messageId,
        calendar_event_id: z.string().meta({ description: 'Of the event, or of one date.' }),
      }),
      summary: 'An invitation, its cancellation or an answer, which a mail brought, was applied to the calendar.',
    },
  },
})
