import { RESPONSES } from '@restante/contracts/vocabulary'
import { z } from 'zod'
import { page, quoted } from '../../answers/answer.ts'
import { modelDocument } from '../../answers/document.ts'
import { DATA_NOTICE, inboxId, paging, time } from '../definition/inputs.ts'
import { busy, calendarEvent, calendarEvents } from '../definition/outputs.ts'
import { defineTool, type Tool } from '../definition/tool.ts'
import { onWire } from '../definition/wire.ts'

const eventId = z.string().min(1).describe('The event, or one date of a series')
const window = { after: time('Begin of the window, now without it'), before: time('Its end, 90 days later without it') }
const mode = z
  .enum(['single', 'future'])
  .optional()
  .describe('Of a date of a series: this date alone, or it and all later ones')
const sendInvites = z.boolean().optional().describe('Mail it to every attendee; not done without it')

const fields = {
  title: z.string().describe('Title'),
  start: z.string().describe('Local time such as 2026-03-02T10:00:00, or a date such as 2026-03-02 for whole days'),
  end: z.string().describe('Local time at which it ends, or the last day'),
  timezone: z
    .string()
    .optional()
    .describe('Zone of these times, such as Europe/Berlin; that of the calendar without it'),
  allDay: z.boolean().optional().describe('Whole days'),
  description: z.string().optional().describe('Description'),
  location: z.string().optional().describe('Place'),
  recurrence: z
    .object({ rule: z.string().describe('RRULE of RFC 5545, such as FREQ=WEEKLY;BYDAY=MO') })
    .optional()
    .describe('How it repeats'),
  attendees: z
    .array(z.object({ email: z.string(), name: z.string().optional() }))
    .optional()
    .describe('Who takes part'),
  sendInvites,
}

export const calendarTools: readonly Tool[] = [
  defineTool({
    name: 'list_calendar_events',
    title: 'List Calendar Events',
    description: `List the dates in the calendar of an inbox within a window of time, in order, those of series too. ${DATA_NOTICE}`,
    kind: 'reads',
    openWorld: true,
    input: z.object({ inboxId, ...paging, ...window }),
    output: calendarEvents,
    needs: ['calendarEvents.agenda'],
    run: async ({ api }, { inboxId: inbox, ...query }) =>
      page('events', await api.call('calendarEvents.agenda', { inboxId: inbox, query: onWire(query) })),
  }),
  defineTool({
    name: 'get_calendar_event',
    title: 'Get Calendar Event',
    description: `Get an event of a calendar with its attendees. ${DATA_NOTICE}`,
    kind: 'reads',
    openWorld: true,
    input: z.object({ inboxId, eventId }),
    output: calendarEvent,
    needs: ['calendarEvents.get'],
    run: async ({ api }, { inboxId: inbox, eventId: id }) =>
      shown(await api.call('calendarEvents.get', { inboxId: inbox, params: { event_id: id } })),
  }),
  defineTool({
    name: 'create_calendar_event',
    title: 'Create Calendar Event',
    description: 'Create an event in the calendar of an inbox. With sendInvites its attendees are invited by mail.',
    kind: 'acts',
    openWorld: true,
    input: z.object({
      inboxId,
      ...fields,
      clientId: z.string().optional().describe('Your own id, for repeated calls'),
    }),
    output: calendarEvent,
    needs: ['calendarEvents.create'],
    run: async ({ api }, { inboxId: inbox, ...body }) =>
      changed(await api.call('calendarEvents.create', { inboxId: inbox, body: onWire(body) })),
  }),
  defineTool({
    name: 'update_calendar_event',
    title: 'Update Calendar Event',
    description: 'Change an event, or a date of a series. What you leave out stays as it is.',
    kind: 'acts',
    openWorld: true,
    input: z.object({ inboxId, eventId, mode, ...z.object(fields).partial().shape }),
    output: calendarEvent,
    needs: ['calendarEvents.update'],
    run: async ({ api }, { inboxId: inbox, eventId: id, mode: which, ...body }) =>
      changed(
        await api.call('calendarEvents.update', {
          inboxId: inbox,
          params: { event_id: id },
          query: { mode: which },
          body: onWire(body),
        }),
      ),
  }),
  defineTool({
    name: 'delete_calendar_event',
    title: 'Delete Calendar Event',
    description: 'Delete an event, cancel a date of a series, or end the series at a date.',
    kind: 'acts',
    openWorld: true,
    input: z.object({ inboxId, eventId, mode, sendInvites }),
    output: z.looseObject({}),
    needs: ['calendarEvents.delete'],
    run: async ({ api }, { inboxId: inbox, eventId: id, ...query }) =>
      shown(
        await api.call('calendarEvents.delete', { inboxId: inbox, params: { event_id: id }, query: onWire(query) }),
      ),
  }),
  defineTool({
    name: 'respond_to_invitation',
    title: 'Respond To Invitation',
    description: 'Accept or decline an event to which the inbox is invited. The organizer gets the answer by mail.',
    kind: 'acts',
    openWorld: true,
    input: z.object({
      inboxId,
      eventId,
      status: z.enum(RESPONSES).describe('The answer'),
      comment: z.string().optional().describe('A word to the organizer'),
    }),
    output: calendarEvent,
    needs: ['calendarEvents.respond'],
    run: async ({ api }, { inboxId: inbox, eventId: id, ...body }) =>
      changed(
        await api.call('calendarEvents.respond', {
          inboxId: inbox,
          params: { event_id: id },
          body: onWire(body),
        }),
      ),
  }),
  defineTool({
    name: 'get_free_busy',
    title: 'Get Free Busy',
    description: 'Tell when up to 20 inboxes are busy within a window of time, to find one for a meeting.',
    kind: 'reads',
    openWorld: false,
    input: z.object({ inboxIds: z.array(z.string()).min(1).describe('The inboxes'), ...window }),
    output: busy,
    needs: ['calendars.compareFreeBusy'],
    run: async ({ api }, body) => {
      const found = await api.call('calendars.compareFreeBusy', { body: onWire(body) })
      return quoted('Busy times:', modelDocument(found))
    },
  }),
]

function changed({ event }: { readonly event: object }) {
  return shown(event)
}

function shown(document: object) {
  return quoted('The event:', modelDocument(document))
}
