import { freeBusy } from '../../src/reading/free-busy/free-busy.ts'
import { loadSeries } from '../../src/reading/store/outlines.ts'
import { CalendarRows, type TestInbox, testInbox } from './rows.ts'

const window = { after: new Date('2026-10-05T00:00:00Z'), before: new Date('2026-10-08T00:00:00Z') }
const HOUR = 60 * 60 * 1_000

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const shown = async (inbox: TestInbox) => {
  const [busy = []] = await freeBusy(rows.db, [inbox], window)
  return busy.map(({ status, start_at, end_at }) => `${status} ${start_at.slice(8, 16)}-${end_at.slice(8, 16)}`)
}

it('joins one-off events and dates of series as they lie after their edits', async () => {
  const inbox = testInbox()
  const daily = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY', duration_value: HOUR })
  await rows.edit(daily, { slot: '2026-10-06T09:00:00', mode: 'single', fields: { start: '2026-10-06T15:00:00' } })
  await rows.edit(daily, { slot: '2026-10-07T09:00:00', mode: 'single', fields: { status: 'cancelled' } })
  await rows.events(
    inbox,
    { start: '2026-10-05T10:00:00', duration_value: HOUR },
    { start: '2026-10-07T10:00:00', duration_value: HOUR, status: 'cancelled' },
    { start: '2026-10-07T12:00:00', duration_value: HOUR, status: 'tentative' },
  )
  expect(await shown(inbox)).toEqual([
    'busy 05T09:00-05T11:00',
    'busy 06T15:00-06T16:00',
    'tentative 07T12:00-07T13:00',
  ])
})

it('counts invitations by what the inbox has answered, for all dates or for one', async () => {
  const inbox = testInbox()
  const invited = (status: 'needs_action' | 'accepted' | 'declined') => ({
    source: 'email' as const,
    duration_value: HOUR,
    attendees: [
      { email: 'other@example.com', status: 'accepted' as const, role: 'required' as const },
      { email: inbox.address, status, role: 'required' as const },
    ],
  })
  const [series] = await rows.events(
    inbox,
    { start: '2026-10-05T09:00:00', rule: 'FREQ=DAILY', ...invited('accepted') },
    { start: '2026-10-05T12:00:00', ...invited('declined') },
    { start: '2026-10-05T14:00:00', ...invited('needs_action') },
  )
  if (!series) throw new Error('stored above')
  await rows.response(series, { slot: '2026-10-06T09:00:00', email: inbox.address, status: 'declined' })
  expect(await shown(inbox)).toEqual([
    'busy 05T09:00-05T10:00',
    'tentative 05T14:00-05T15:00',
    'busy 07T09:00-07T10:00',
  ])
})

it('answers for several inboxes in their order', async () => {
  const [free, busy] = [testInbox(), testInbox()]
  await rows.event(busy, { start: '2026-10-06', all_day: true })
  const day = { start_at: '2026-10-06T00:00:00Z', end_at: '2026-10-07T00:00:00Z', status: 'busy' }
  expect(await freeBusy(rows.db, [busy, free, busy], window)).toEqual([[day], [], [day]])
})

it('takes no time for a date that was taken out while it ran, alone or with all later ones', async () => {
  const inbox = testInbox()
  const daily = { rule: 'FREQ=DAILY', duration_value: HOUR }
  const [single, future] = await rows.events(
    inbox,
    { start: '2026-10-06T09:00:00', ...daily, exdates: ['2026-10-06T09:00:00'] },
    { start: '2026-10-05T15:00:00', ...daily, truncate_before: '2026-10-06T17:00:00', truncated_at: window.after },
  )
  if (!single || !future) throw new Error('stored above')
  for (const [event, slot] of [
    [single, '2026-10-06T09:00:00'],
    [future, '2026-10-06T15:00:00'],
  ] as const) {
    await rows.begun(event, { slot, state: 'running' })
    await rows.cancelled(event, { slot, document: {}, cancelled_at: window.after })
  }
  expect(await shown(inbox)).toEqual(['busy 05T15:00-05T16:00', 'busy 07T09:00-07T10:00'])
})

it('reads no edit of all later dates of a series that has none in the window', async () => {
  const inbox = testInbox()
  const over = await rows.event(inbox, { start: '2026-01-01T09:00:00', rule: 'FREQ=DAILY;COUNT=3' })
  const daily = await rows.event(inbox, { start: '2026-10-05T09:00:00', rule: 'FREQ=DAILY', duration_value: HOUR })
  for (const event of [over, daily]) {
    await rows.edit(event, { slot: event.start, mode: 'future', fields: { title: 'New' } })
    await rows.edit(event, { slot: '2026-10-07T09:00:00', mode: 'future', fields: { status: 'cancelled' } })
    await rows.edit(event, { slot: '2026-10-09T09:00:00', mode: 'future', fields: { status: 'confirmed' } })
  }
  const states = await loadSeries(rows.db, inbox, window)
  expect(states.map(({ event, edits }) => [event.id, edits.map(({ slot }) => slot)])).toEqual([
    [daily.id, ['2026-10-07T09:00:00', '2026-10-09T09:00:00']],
  ])
  expect(await shown(inbox)).toEqual(['busy 05T09:00-05T10:00', 'busy 06T09:00-06T10:00'])
})

it('counts dates that take no time as well', async () => {
  const inbox = testInbox()
  const hourly = { start: '2026-10-01T00:00:00', rule: 'FREQ=HOURLY', duration_value: HOUR / 2 }
  const event = await rows.event(inbox, hourly)
  await rows.edit(event, { slot: event.start, mode: 'future', fields: { status: 'cancelled' } })
  expect(await freeBusy(rows.db, [inbox], window, 72)).toEqual([[]])
  await expect(freeBusy(rows.db, [inbox], window, 71)).rejects.toMatchObject({ code: 'query_range_too_wide' })
})

it('takes no longer for 2,100 series that count than for others', async () => {
  const [counting, others] = [testInbox(), testInbox()]
  const starts = Array.from({ length: 2_100 }, (_, index) => wallTime(Date.UTC(2020, 0, 1) + index * 1_000))
  const lastOf = (start: string) => wallTime(Date.parse(`${start}Z`) + 9_998 * 24 * HOUR)
  const counted = starts.map((start) => ({ start, rule: 'FREQ=DAILY;COUNT=9999', last_slot: lastOf(start) }))
  await rows.events(counting, ...counted.map((fields) => ({ ...fields, last_end_at: null })))
  await rows.events(others, ...starts.map((start) => ({ start, rule: 'FREQ=DAILY' })))
  const costOf = async (inbox: TestInbox) => {
    const before = process.threadCpuUsage()
    expect((await freeBusy(rows.db, [inbox], window))[0]).toHaveLength(3)
    return process.threadCpuUsage(before).user
  }
  const ofOthers = await costOf(others)
  // Those that count would otherwise look at each of their five million dates before.
  expect(await costOf(counting)).toBeLessThan(5 * ofOthers)
})

const wallTime = (time: number) => new Date(time).toISOString().slice(0, -'.000Z'.length)

it('refuses a window with more dates than one answer is made of', async () => {
  const inbox = testInbox()
  await rows.event(inbox, { start: '2026-10-01T00:00:00', rule: 'FREQ=HOURLY', duration_value: HOUR / 2 })
  expect((await freeBusy(rows.db, [inbox], window, 72))[0]).toHaveLength(72)
  await expect(freeBusy(rows.db, [inbox, inbox], window, 100)).rejects.toMatchObject({ code: 'query_range_too_wide' })
})
