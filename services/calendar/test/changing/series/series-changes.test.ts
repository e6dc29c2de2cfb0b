import { type Answer, type CalendarFixture, type CallOptions, startCalendar } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'

let calendar: CalendarFixture
beforeAll(async () => {
  calendar = await startCalendar()
})
afterAll(() => calendar.stop())

const meeting = { title: 'Meeting', start: '2030-01-07T09:00:00', end: '2030-01-07T10:00:00' }
const weekly = { ...meeting, recurrence: { rule: 'FREQ=WEEKLY' } }

/** An inbox with one event. */
async function eventOf(body: object) {
  const inbox = calendar.inbox()
  const { body: created } = await calendar.call('calendarEvents.create', inbox, { body })
  const id = created.event?.event_id ?? ''
  return { inbox, id, date: (slot: string) => `${id}_t${slot.replaceAll(/[-:]/g, '')}` }
}

function patch(inbox: TestInbox, id: string, body: object, options: CallOptions = {}): Promise<Answer> {
  return calendar.call('calendarEvents.update', inbox, { params: { event_id: id }, body, ...options })
}

function get(inbox: TestInbox, id: string): Promise<Answer> {
  return calendar.call('calendarEvents.get', inbox, { params: { event_id: id } })
}

/** A time of UTC as a wall time, so many seconds from now. */
function soon(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19)
}

it('keeps where a series ends with a new rule, and refuses one that has no dates before it', async () => {
  const { inbox, id, date } = await eventOf(weekly)
  const ended = { params: { event_id: date('2030-02-04T09:00:00') }, query: { mode: 'future' } }
  await calendar.call('calendarEvents.delete', inbox, ended)
  const later = { start: '2031-01-07T09:00:00', end: '2031-01-07T10:00:00', recurrence: weekly.recurrence }
  const { status, body } = await patch(inbox, id, later)
  expect([status, body.code]).toEqual([409, 'materialization_failed'])
  const whole = { all_day: true, start: '2030-01-07', end: '2030-01-07', timezone: 'UTC' }
  const days = await patch(inbox, id, { ...whole, recurrence: weekly.recurrence })
  expect(days.body.event?.recurrence).toMatchObject({ truncate_before: '2030-02-04' })
})

it('keeps the dates of a series that are over with another status', async () => {
  const [start, end] = [soon(-10 * 86_400 - 3_600), soon(-10 * 86_400 - 1_800)]
  const { inbox, id, date } = await eventOf({ title: 'Daily', start, end, recurrence: { rule: 'FREQ=DAILY' } })
  const query = { after: `${soon(-11 * 86_400)}Z`, before: `${soon(10 * 86_400)}Z` }
  const count = async () => (await calendar.call('calendarEvents.agenda', inbox, { query })).body['count']
  const before = await count()
  expect((await patch(inbox, id, { status: 'tentative' })).status).toBe(200)
  expect(await count()).toBe(before)
  expect((await get(inbox, date(start))).body).toMatchObject({ status: 'confirmed' })
})
