import { randomUUID } from 'node:crypto'
import { topics } from '@restante/contracts/events'
import { hashedUuid } from '@restante/service/database'
import type { InboxScope } from '@restante/testkit'

/** The event of a start, whose id is made of that of its calendar event. */
export function startingEvent({ organizationId, podId, inboxUid, address }: InboxScope) {
  const [id, at] = [randomUUID(), new Date()]
  const start_at = at.toISOString().replace(/\.\d+/, '')
  const calendar_event = {
    ...{ event_id: id, kind: 'single' as const, title: 'Review', status: 'confirmed' as const, all_day: false },
    ...{ start: '2031-01-06T09:00:00', end: '2031-01-06T10:00:00', timezone: 'UTC', duration_mode: 'exact' as const },
    ...{ duration_value: 3_600_000, start_at, end_at: start_at, attendee_count: 0, uid: id, sequence: 0 },
    ...{ source: 'api' as const, created_at: at.toISOString(), updated_at: at.toISOString() },
  }
  const type = 'calendar.event.starting' as const
  const event_id = `${id}_single.start`
  const document = { type: 'event' as const, event_type: type, event_id, inbox_id: address, calendar_event }
  return topics['calendar.events'].event(
    type,
    { ...document, scheduled_at: start_at },
    {
      id: hashedUuid(event_id),
      time: at,
      about: { organization_id: organizationId, pod_id: podId, inbox_uid: inboxUid, subject: id },
    },
  )
}
