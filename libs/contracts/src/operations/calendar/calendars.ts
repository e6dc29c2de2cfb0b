import { z } from 'zod'
import { BASE, BYTES, define, group, idParam, VOID } from '../../definition/define.ts'
import { busyTimes, calendar } from '../../resources/calendar.ts'
import { timezone } from '../../schemas/calendar.ts'
import { queryDateTime } from '../../schemas/query.ts'
import { instant, stringList } from '../../schemas/text.ts'
import { CALENDAR_LIMITS } from '../../vocabulary/calendar.ts'
import { inboxId } from '../../vocabulary/ids.ts'
import { TIERS } from '../../vocabulary/tiers.ts'
import { calendarWindow, consistency, OF_INBOX } from './parts.ts'

const window = { after: instant, before: instant }

/** The calendar of an inbox: its setting, its free time, its feed (calendar 2). */
export const calendarOperations = group({
  'calendars.get': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendars.get',
    method: 'GET',
    path: '/calendar',
    permission: 'calendar_read',
    summary: 'Get the calendar of an inbox',
    query: z.object({ consistency }),
    response: calendar,
    etag: 'sent',
  }),
  'calendars.update': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendars.update',
    method: 'PATCH',
    path: '/calendar',
    permission: 'calendar_update',
    summary: 'Set the time zone of new events; stored ones stay as they are',
    errors: ['forbidden', 'race_condition', 'precondition_failed'],
    body: z.object({ timezone }),
    bodyLimit: { bytes: CALENDAR_LIMITS.settingsBody, answer: 'payload_too_large' },
    response: calendar,
    etag: 'checked',
  }),
  'calendars.freeBusy': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendars.freeBusy',
    method: 'GET',
    path: '/calendar/free-busy',
    permission: 'calendar_event_read',
    summary: 'Tell when an inbox is busy, without what with',
    errors: ['forbidden', 'query_range_too_wide'],
    query: z.object({ ...calendarWindow }),
    response: z.object({ inbox_id: inboxId, ...window, busy: busyTimes }).meta({ id: 'FreeBusy' }),
  }),
  'calendars.compareFreeBusy': define({
    ...BASE,
    service: 'calendar',
    prefixes: ['organization'],
    tiers: TIERS,
    id: 'calendars.compareFreeBusy',
    method: 'POST',
    path: '/calendar/free-busy',
    permission: 'calendar_event_read',
    summary: 'Tell when several inboxes are busy, to find a time for a meeting',
    errors: ['forbidden', 'not_found', 'query_range_too_wide'],
    body: z.object({
      inbox_ids: stringList(z.string().min(1), CALENDAR_LIMITS.freeBusyInboxes)
        .refine((ids) => ids.length > 0, { error: 'Give at least one inbox' })
        .meta({ description: 'Addresses or client_ids of inboxes within the scope of the key.' }),
      after: queryDateTime.optional(),
      before: queryDateTime.optional(),
    }),
    bodyLimit: { bytes: CALENDAR_LIMITS.settingsBody, answer: 'payload_too_large' },
    response: z
      .object({ ...window, inboxes: z.array(z.object({ inbox_id: inboxId, busy: busyTimes })) })
      .meta({ id: 'FreeBusyOfInboxes', description: 'In the order of the request.' }),
  }),
  'calendars.createFeed': define({
    ...BASE,
    ...OF_INBOX,
    id: 'calendars.createFeed',
    method: 'POST',
    path: '/calendar/feed',
    permission: 'calendar_update',
    alsoNeeds: ['calendar_event_read'],
    summary: 'Get an address at which calendar programs read the calendar; an earlier address ends',
    errors: ['forbidden'],
    body: z.object({}),
    bodyLimit: { bytes: CALENDAR_LIMITS.settingsBody, answer: 'payload_too_large' },
    response: z
      .object({ url: z.url().meta({ description: 'Secret, and shown once.' }), created_at: instant })
      .meta({ id: 'CalendarFeed' }),
    status: 201,
  }),
  'calendars.deleteFeed': define({
    ...BASE,
    ...OF_INBOX,
    ...VOID,
    id: 'calendars.deleteFeed',
    method: 'DELETE',
    path: '/calendar/feed',
    permission: 'calendar_update',
    summary: 'End the address of the feed',
    errors: ['forbidden'],
  }),
  'calendarFeeds.get': define({
    ...BASE,
    ...BYTES,
    service: 'calendar',
    prefixes: ['organization'],
    tiers: [],
    authentication: 'none',
    permission: 'any',
    id: 'calendarFeeds.get',
    method: 'GET',
    path: '/calendar-feeds/{token}',
    summary: 'Read a calendar as a file of iCalendar; whoever knows the address may',
    params: z.object({ token: idParam }),
  }),
})
