import { Cursors } from '@restante/service/http'
import { datedId } from '../../../src/model/dated-id.ts'
import { listAgenda } from '../../../src/reading/lists/agenda.ts'
import type { DatesQuery } from '../../../src/reading/lists/dates-page.ts'
import { listInstances } from '../../../src/reading/lists/instances.ts'
import { CalendarRows, DAY, type TestInbox, testInbox } from '../rows.ts'

const cursors = new Cursors('the secret of the page tokens')
const october = { after: new Date('2026-10-05T00:00:00Z'), before: new Date('2026-10-12T00:00:00Z') }

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const agenda = (inbox: TestInbox, query: DatesQuery) => listAgenda({ db: rows.db, cursors }, inbox, query)

/** Every page of an agenda, one after the other. */
async function walk(inbox: TestInbox, query: DatesQuery) {
  const pages = [await agenda(inbox, query)]
  for (let token = pages[0]?.next_page_token; token !== undefined; token = pages.at(-1)?.next_page_token) {
    pages.push(await agenda(inbox, { ...query, page_token: token }))
  }
  return pages
}

const shown = (page: Awaited<ReturnType<typeof agenda>>) => page.events.map((event) => `${event.start} ${event.title}`)

it('shows one-off events and dates of series in one order, page by page, each once', async () => {
  const inbox = testInbox()
  await rows.events(
    inbox,
    { start: '2026-10-07T09:00:00', title: 'one-off' },
    { start: '2026-10-07T09:00:00', title: 'other one-off' },
    { start: '2026-01-01T09:00:00', title: 'daily', rule: 'FREQ=DAILY' },
    { start: '2026-10-07', all_day: true, title: 'holiday' },
    { start: '2026-10-01T10:00:00', title: 'twice', rule: 'FREQ=DAILY;COUNT=2' },
    { start: '2026-11-01T10:00:00', title: 'later' },
  )
  const whole = await agenda(inbox, october)
  expect(whole).toMatchObject({ count: 10, limit: 50 })
  expect(whole.next_page_token).toBeUndefined()
  expect(shown(whole).filter((text) => text.endsWith('daily'))).toHaveLength(7)
  const order = whole.events.map(({ start_at, event_id }) => `${start_at} ${event_id}`)
  expect(order).toEqual(order.toSorted())
  for (const limit of [1, 3, 9]) {
    const pages = await walk(inbox, { ...october, limit })
    expect(pages.flatMap(({ events }) => events)).toEqual(whole.events)
    expect(pages.every((page) => page.limit === limit && page.count === page.events.length)).toBe(true)
  }
})

it('leaves out a date that was taken out while it ran', async () => {
  const inbox = testInbox()
  const exdates = ['2026-10-06T09:00:00']
  const daily = await rows.event(inbox, { start: '2026-10-05T09:00:00', rule: 'FREQ=DAILY;COUNT=3', exdates })
  await rows.begun(daily, { slot: '2026-10-06T09:00:00', state: 'running' })
  await rows.cancelled(daily, { slot: '2026-10-06T09:00:00', document: {}, cancelled_at: october.after })
  const left = ['2026-10-05T09:00:00 Event', '2026-10-07T09:00:00 Event']
  expect(shown(await agenda(inbox, october))).toEqual(left)
  expect(shown(await listInstances({ db: rows.db, cursors }, inbox, daily.id, october))).toEqual(left)
})

it('shows edited dates where they lie now and leaves out what is cancelled', async () => {
  const inbox = testInbox()
  const [daily, cancelled] = await rows.events(
    inbox,
    { start: '2026-10-01T09:00:00', title: 'daily', rule: 'FREQ=DAILY', exdates: ['2026-10-06T09:00:00'] },
    { start: '2026-10-01T09:00:00', title: 'cancelled', rule: 'FREQ=DAILY', status: 'cancelled' },
    { start: '2026-10-07T09:00:00', title: 'cancelled', status: 'cancelled' },
  )
  if (!daily || !cancelled) throw new Error('stored above')
  await rows.edit(daily, { slot: '2026-10-05T09:00:00', mode: 'single', fields: { status: 'cancelled' } })
  await rows.edit(daily, { slot: '2026-10-07T09:00:00', mode: 'single', fields: { start: '2026-10-08T08:00:00' } })
  await rows.edit(daily, { slot: '2026-10-30T09:00:00', mode: 'single', fields: { start: '2026-10-09T08:00:00' } })
  await rows.edit(daily, { slot: '2026-10-10T09:00:00', mode: 'future', fields: { title: 'renamed' } })
  await rows.edit(daily, { slot: '2026-10-11T09:00:00', mode: 'single', fields: { start: '2026-10-20T09:00:00' } })
  await rows.edit(cancelled, { slot: '2026-10-07T09:00:00', mode: 'single', fields: { title: 'x' } })
  const { events } = await agenda(inbox, october)
  expect(events.map(({ start, title, is_exception }) => `${start} ${title} ${is_exception}`)).toEqual([
    '2026-10-08T08:00:00 daily true',
    '2026-10-08T09:00:00 daily false',
    '2026-10-09T08:00:00 renamed true',
    '2026-10-09T09:00:00 daily false',
    '2026-10-10T09:00:00 renamed true',
  ])
  expect(events[0]).toMatchObject({
    event_id: datedId(daily.id, '2026-10-07T09:00:00'),
    kind: 'instance',
    series_id: daily.id,
    original_start: '2026-10-07T09:00:00',
    original_start_at: '2026-10-07T09:00:00Z',
    start_at: '2026-10-08T08:00:00Z',
  })
})

it('counts dates that began before the window only while overlapping ones are asked for', async () => {
  const inbox = testInbox()
  const noon = { after: new Date('2026-10-07T12:00:00Z'), before: new Date('2026-10-07T14:00:00Z') }
  const hour = 60 * 60 * 1_000
  await rows.events(
    inbox,
    { start: '2026-10-07T11:00:00', title: 'ends at noon', duration_value: hour },
    { start: '2026-10-07T11:00:00', title: 'overlaps', duration_value: 2 * hour },
    { start: '2026-01-07T11:00:00', title: 'long', duration_value: 365 * DAY },
    { start: '2026-10-01T11:30:00', title: 'daily', duration_value: hour, rule: 'FREQ=DAILY' },
    { start: '2026-09-20T11:30:00', title: 'monthly', duration_value: 31 * DAY, rule: 'FREQ=MONTHLY' },
    { start: '2026-10-07T12:00:00', title: 'begins at noon', duration_value: hour },
    { start: '2026-10-07T14:00:00', title: 'begins at two', duration_value: hour },
  )
  const titles = async (query: DatesQuery) =>
    (await walk(inbox, query)).flatMap(({ events }) => events.map((e) => e.title))
  const overlapping = ['long', 'monthly', 'overlaps', 'daily', 'begins at noon']
  expect(await titles(noon)).toEqual(overlapping)
  expect(await titles({ ...noon, limit: 1 })).toEqual(overlapping)
  expect(await titles({ ...noon, include_overlapping: false })).toEqual(['begins at noon'])
})

it('leaves out of items what full documents have, and says what the inbox answered', async () => {
  const inbox = testInbox()
  const attendees = [
    { email: inbox.address, status: 'needs_action', role: 'required', comment: 'private' } as const,
    { email: 'b@example.com', status: 'accepted', role: 'optional', name: 'B' } as const,
  ]
  const more = { description: 'text', location: 'Room 1', metadata: { a: 1 }, source: 'email', attendees } as const
  const [, series] = await rows.events(
    inbox,
    { start: '2026-10-07T08:00:00', ...more },
    { start: '2026-10-07T09:00:00', rule: 'FREQ=DAILY;COUNT=2', ...more },
  )
  if (!series) throw new Error('stored above')
  await rows.response(series, { slot: '2026-10-08T09:00:00', email: inbox.address, status: 'declined' })
  const { events } = await agenda(inbox, october)
  expect(events.map(({ response_status }) => response_status)).toEqual(['needs_action', 'needs_action', 'declined'])
  for (const event of events) {
    expect(event).toMatchObject({ location: 'Room 1', attendee_count: 2 })
    for (const member of ['description', 'metadata', 'attendees', 'resource_revision', 'etag']) {
      expect(event).not.toHaveProperty(member)
    }
  }
})

it('goes on where a page ended after dates before it were added and removed', async () => {
  const inbox = testInbox()
  const [first] = await rows.events(
    inbox,
    ...['05', '06', '07', '08'].map((day) => ({ start: `2026-10-${day}T09:00:00`, title: day })),
  )
  const page = await agenda(inbox, { ...october, limit: 2 })
  if (!first) throw new Error('stored above')
  await rows.set(first, { status: 'cancelled' })
  await rows.events(inbox, { start: '2026-10-05T07:00:00', title: 'new' })
  const next = await agenda(inbox, { ...october, limit: 10, page_token: page.next_page_token })
  expect(next.events.map(({ title }) => title)).toEqual(['07', '08'])
})

it('keeps the window of the first page where the request gives none', async () => {
  const inbox = testInbox()
  const tomorrow = (hours: number) => new Date(Date.now() + DAY + hours * 3_600_000).toISOString().slice(0, 19)
  await rows.events(inbox, ...[1, 2, 3].map((hours) => ({ start: tomorrow(hours), title: String(hours) })))
  const pages = await walk(inbox, { limit: 1 })
  expect(pages.flatMap(shown)).toHaveLength(3)
})

it('refuses a token with another window, of another inbox, and of no list at all', async () => {
  const inbox = testInbox()
  await rows.events(inbox, { start: '2026-10-07T09:00:00', rule: 'FREQ=DAILY' })
  const { next_page_token: token } = await agenda(inbox, { ...october, limit: 1 })
  const refused = expect.objectContaining({ status: 400, code: 'validation_error' })
  await expect(agenda(inbox, { limit: 1, page_token: token })).rejects.toEqual(refused)
  await expect(agenda(testInbox(), { ...october, limit: 1, page_token: token })).rejects.toEqual(refused)
  await expect(agenda(inbox, { ...october, include_overlapping: false, page_token: token })).rejects.toEqual(refused)
  await expect(agenda(inbox, { ...october, page_token: 'nothing' })).rejects.toEqual(refused)
})

it('refuses a window in which one series has more than 3,000 dates', async () => {
  const inbox = testInbox()
  const often = 'FREQ=HOURLY;INTERVAL=2;BYHOUR=0,2,4,6,8,10,12,14'
  await rows.events(inbox, { start: '2026-10-01T00:00:00', rule: often, duration_value: 60_000 })
  const after = new Date('2026-10-01T00:00:00Z')
  const within = (days: number) => agenda(inbox, { after, before: new Date(after.getTime() + days * DAY), limit: 1 })
  expect((await within(366)).count).toBe(1)
  await rows.events(inbox, { start: '2026-10-01T00:00:00', rule: 'FREQ=HOURLY', duration_value: 60_000 })
  await expect(within(366)).rejects.toMatchObject({ status: 400, code: 'query_range_too_wide' })
  expect((await within(125)).count).toBe(1)
})

it('shows nothing of other inboxes', async () => {
  const [inbox, other] = [testInbox(), testInbox()]
  await rows.events(other, { start: '2026-10-07T09:00:00' }, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY' })
  expect((await agenda(inbox, october)).events).toEqual([])
})

it('shows at once what a change brings into a window that was read before', async () => {
  const inbox = testInbox()
  const [yearly] = await rows.events(
    inbox,
    { start: '2026-12-01T09:00:00', title: 'yearly', rule: 'FREQ=YEARLY' },
    { start: '2026-10-01T09:00:00', title: 'daily', rule: 'FREQ=DAILY' },
  )
  if (!yearly) throw new Error('stored above')
  const first = async (after: string) => {
    const query = { after: new Date(after), before: new Date('2026-12-31T00:00:00Z'), limit: 1 }
    return (await agenda(inbox, query)).events[0]?.start
  }
  expect(await first('2026-10-05T00:00:00Z')).toBe('2026-10-05T09:00:00')
  await rows.edit(yearly, { slot: '2026-12-01T09:00:00', mode: 'single', fields: { start: '2026-10-05T08:00:00' } })
  await rows.set(yearly, { edits_revision: 1 })
  expect(await first('2026-10-05T00:00:00Z')).toBe('2026-10-05T08:00:00')
  // A window that begins earlier has dates that the first one did not.
  expect(await first('2026-10-01T00:00:00Z')).toBe('2026-10-01T09:00:00')
  expect(await first('2026-10-05T08:10:00Z')).toBe('2026-10-05T08:00:00')
  expect(await first('2026-10-05T08:40:00Z')).toBe('2026-10-05T09:00:00')
})

it('shows windows at both ends of what can be asked for', async () => {
  const inbox = testInbox()
  await rows.events(
    inbox,
    { start: '1900-01-01T00:00:00', title: 'first', rule: 'FREQ=YEARLY' },
    { start: '9999-12-30T09:00:00', title: 'last' },
  )
  expect(await agenda(inbox, { after: new Date('0001-01-01T00:00:00Z') })).toMatchObject({ count: 0 })
  expect((await walk(inbox, { after: new Date('1899-12-01T00:00:00Z'), limit: 1 })).flatMap(shown)).toEqual([
    '1900-01-01T00:00:00 first',
  ])
  expect((await walk(inbox, { after: new Date('9999-12-01T00:00:00Z'), limit: 1 })).flatMap(shown)).toEqual([
    '9999-12-30T09:00:00 last',
  ])
})
