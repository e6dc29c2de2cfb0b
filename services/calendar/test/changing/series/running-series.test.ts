import { waitFor } from '@restante/testkit'
import { type CalendarFixture, startCalendar } from '../../support/fixture.ts'
import type { TestInbox } from '../../support/tenant.ts'

let calendar: CalendarFixture
beforeAll(async () => {
  calendar = await startCalendar()
})
afterAll(() => calendar.stop())

/** A time of UTC as a wall time, so many seconds from now. */
function soon(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19)
}

/**
 * A daily series whose first date runs, until so many seconds from now. It began less than five minutes ago, so that its start
 * is told on a busy machine too, where it may be over by then (calendar 17).
 */
async function running(seconds: number) {
  const inbox = calendar.inbox()
  const [start, end] = [soon(-200), soon(seconds)]
  const { body } = await calendar.call('calendarEvents.create', inbox, {
    body: { title: 'Daily', start, end, recurrence: { rule: 'FREQ=DAILY' } },
  })
  const id = body.event?.event_id ?? ''
  const first = `${id}_t${start.replaceAll(/[-:]/g, '')}`
  const started = await waitFor(() => boundary(inbox, 'starting'), { what: 'the start' })
  expect(started['event_id']).toBe(`${first}.start`)
  return { inbox, id, first, start, end }
}

function boundary(inbox: TestInbox, which: 'starting' | 'ending'): Record<string, unknown> | undefined {
  return calendar.publicEvents(inbox).find((event) => event['event_type'] === `calendar.event.${which}`)
}

function get(inbox: TestInbox, id: string) {
  return calendar.call('calendarEvents.get', inbox, { params: { event_id: id } })
}

it('leaves a date that runs as it is when its series moves, and ends it in time', async () => {
  const { inbox, id, first, start, end } = await running(5)
  const moved = { start: soon(3_000), end: soon(3_600) }
  const { status } = await calendar.call('calendarEvents.update', inbox, { params: { event_id: id }, body: moved })
  expect(status).toBe(200)
  expect((await get(inbox, first)).body).toMatchObject({ start, end })
  const { body } = await calendar.call('calendarEvents.listInstances', inbox, { params: { event_id: id } })
  const [one, two] = body.events ?? []
  expect(one?.start).toBe(start)
  expect(two?.start.slice(10)).toBe(moved.start.slice(10))
  const ended = await waitFor(() => boundary(inbox, 'ending'), { what: 'the end' })
  expect(ended['event_id']).toBe(`${first}.end`)
})

it('ends a date in time that was taken out of its series while it ran', async () => {
  const { inbox, first } = await running(5)
  const removed = await calendar.call('calendarEvents.delete', inbox, { params: { event_id: first } })
  expect(removed.status).toBe(202)
  const ended = await waitFor(() => boundary(inbox, 'ending'), { what: 'the end' })
  expect(ended['event_id']).toBe(`${first}.end`)
})

it('lets a running date end at another time, and start at none', async () => {
  const { inbox, first } = await running(600)
  const patch = (body: object) => calendar.call('calendarEvents.update', inbox, { params: { event_id: first }, body })
  expect((await patch({ start: soon(60), end: soon(900) })).body.code).toBe('event_already_started')
  const later = soon(900)
  expect((await patch({ end: later })).body.event).toMatchObject({ end: later, is_exception: true })
})

it('gates a series that becomes a one-off while its first date runs, and ends the one-off in time', async () => {
  const { inbox, id, start } = await running(600)
  const patch = (body: object) => calendar.call('calendarEvents.update', inbox, { params: { event_id: id }, body })
  const moved = await patch({ recurrence: null, start: soon(1_200), end: soon(1_800) })
  expect([moved.status, moved.body.code]).toEqual([409, 'event_already_started'])
  const over = await patch({ recurrence: null, start, end: soon(-60) })
  expect([over.status, over.body.code]).toEqual([409, 'event_already_started'])
  expect((await patch({ recurrence: null, start, end: soon(2) })).body.event).toMatchObject({ kind: 'single' })
  const ended = await waitFor(() => boundary(inbox, 'ending'), { what: 'the end' })
  expect(ended['event_id']).toBe(`${id}_single.end`)
})

it('begins a one-off at its own time when it was a series whose first date is over', async () => {
  const { inbox, id, first, start } = await running(1)
  await waitFor(() => boundary(inbox, 'ending'), { what: 'the end of the first date' })
  expect((await get(inbox, first)).body).toMatchObject({ start })
  const body = { recurrence: null, start: soon(1), end: soon(60) }
  const { status } = await calendar.call('calendarEvents.update', inbox, { params: { event_id: id }, body })
  expect(status).toBe(200)
  await waitFor(() => calendar.publicEvents(inbox).find((event) => event['event_id'] === `${id}_single.start`), {
    what: 'the start of the one-off',
  })
})
