import { randomUUID } from 'node:crypto'
import { findCalendar, setTimezone } from '../../src/calendars/store.ts'
import { calendarDocument } from '../../src/documents/index.ts'
import { type CalendarOwner, touchCalendar } from '../../src/store/index.ts'
import { CalendarRows } from '../reading/rows.ts'

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const created = '2026-02-03T04:05:06.789Z'

function owner(): CalendarOwner {
  const [inboxUid, organizationId] = [randomUUID(), randomUUID()]
  const address = `${inboxUid.slice(0, 8)}@example.com`
  return { inboxUid, organizationId, podId: organizationId, address, createdAt: new Date(created) }
}

it('shows the calendar of an inbox from its birth on, without a row', async () => {
  const calendar = owner()
  expect(calendarDocument(await findCalendar(rows.db, calendar))).toEqual({
    inbox_id: calendar.address,
    timezone: 'UTC',
    event_count: 0,
    created_at: created,
    updated_at: created,
    etag: '"rv-0"',
  })
})

it('shows the same after a row was stored for another reason', async () => {
  const calendar = owner()
  const before = await findCalendar(rows.db, calendar)
  await rows.db.transaction((tx) => touchCalendar(tx, calendar, 0))
  expect(await findCalendar(rows.db, calendar)).toEqual(before)
})

it('changes the time zone of one revision once', async () => {
  const calendar = owner()
  const first = await setTimezone(rows.db, calendar, { timezone: 'Europe/Berlin', revision: 0 })
  expect(first).toMatchObject({ timezone: 'Europe/Berlin', revision: 1, created_at: new Date(created) })
  expect(first?.updated_at.getTime()).toBeGreaterThan(new Date(created).getTime())
  expect(await setTimezone(rows.db, calendar, { timezone: 'Asia/Tokyo', revision: 0 })).toBeUndefined()
  const zones = ['Asia/Tokyo', 'Asia/Dubai', 'Africa/Cairo']
  const changes = await Promise.all(zones.map((timezone) => setTimezone(rows.db, calendar, { timezone, revision: 1 })))
  expect(changes.filter((changed) => changed !== undefined)).toHaveLength(1)
  expect(await findCalendar(rows.db, calendar)).toMatchObject({ revision: 2 })
})
