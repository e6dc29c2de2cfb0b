import type { CalendarEvent } from '@restante/contracts/resources'
import { boundaryInstant, cancelledDate, forBoundary, forEvent, itemOf } from '../../src/documents/index.ts'

const document: CalendarEvent = {
  event_id: '7c4e9b2a-1f3d-4a8e-b6c5-2e9d0f1a8b47',
  kind: 'single',
  title: 'Standup',
  description: 'text',
  metadata: { a: 1 },
  status: 'confirmed',
  all_day: false,
  start: '2026-10-07T09:00:00',
  end: '2026-10-07T09:15:00',
  timezone: 'UTC',
  duration_mode: 'exact',
  duration_value: 900_000,
  start_at: '2026-10-07T09:00:00Z',
  end_at: '2026-10-07T09:15:00Z',
  attendees: [],
  attendee_count: 0,
  uid: 'a@example.com',
  sequence: 0,
  source: 'api',
  resource_revision: 1,
  created_at: '2026-10-01T16:30:00.000Z',
  updated_at: '2026-10-02T08:00:00.000Z',
  etag: '"rv-1"',
}

const without = (form: CalendarEvent) => Object.keys(document).filter((member) => !(member in form))

it('leaves out of each form what it does not show', () => {
  expect(without(itemOf(document))).toEqual(['description', 'metadata', 'attendees', 'resource_revision', 'etag'])
  expect(without(forEvent(document))).toEqual(['etag'])
  expect(without(forBoundary(document))).toEqual(['resource_revision', 'etag'])
  expect(without(cancelledDate(document))).toEqual(['description', 'metadata', 'attendees', 'etag'])
  expect(cancelledDate(document).status).toBe('cancelled')
})

it('writes the instants of boundaries without a fraction', () => {
  expect(boundaryInstant(new Date('2026-10-07T09:00:00.000Z'))).toBe('2026-10-07T09:00:00Z')
})
