import { randomUUID } from 'node:crypto'
import { datedId } from '../../src/model/dated-id.ts'
import { getEvent } from '../../src/reading/get-event.ts'
import { CalendarRows, DAY, type TestInbox, testInbox } from './rows.ts'

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const get = (inbox: TestInbox, id: string) => getEvent(rows.db, inbox, id)
const notFound = { status: 404, message: 'Event not found' }
const NOW = Date.now()
/** Nine o'clock of the day so many days from now; the same days for a test that runs over midnight. */
const slotIn = (days: number) => `${new Date(NOW + days * DAY).toISOString().slice(0, 10)}T09:00:00`

it('shows everything of a one-off event, with the tag of its revision', async () => {
  const inbox = testInbox()
  const event = await rows.event(inbox, {
    start: '2026-11-02',
    all_day: true,
    duration_value: 3,
    timezone: 'Europe/London',
    description: 'text',
    metadata: [1, null],
    revision: 4,
    attendees: [{ email: 'b@example.com', status: 'accepted', role: 'optional' }],
  })
  expect(await get(inbox, event.id)).toEqual({
    event_id: event.id,
    kind: 'single',
    title: 'Event',
    description: 'text',
    metadata: [1, null],
    status: 'confirmed',
    all_day: true,
    start: '2026-11-02',
    end: '2026-11-04',
    timezone: 'Europe/London',
    duration_mode: 'nominal',
    duration_value: 3,
    start_at: '2026-11-02T00:00:00Z',
    end_at: '2026-11-05T00:00:00Z',
    attendees: [{ email: 'b@example.com', status: 'accepted', role: 'optional' }],
    attendee_count: 1,
    uid: `${event.id}@example.com`,
    sequence: 0,
    source: 'api',
    organizer_email: inbox.address,
    resource_revision: 4,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    etag: '"rv-4"',
  })
})

it('shows when a series repeats, without empty lists', async () => {
  const inbox = testInbox()
  const rule = 'FREQ=DAILY'
  const plain = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule })
  expect(await get(inbox, plain.id)).toMatchObject({ kind: 'series', attendees: [], recurrence: { rule } })
  expect((await get(inbox, plain.id)).recurrence).toEqual({ rule })
  const lists = {
    exdates: ['2026-10-02T09:00:00'],
    rdates: ['2026-10-02T10:00:00'],
    truncate_before: '2026-12-01T09:00:00',
  }
  const full = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule, ...lists })
  expect((await get(inbox, full.id)).recurrence).toEqual({ rule, ...lists })
})

it('shows a date with its edits, and one field each by the narrowest of them', async () => {
  const inbox = testInbox()
  const [first, slot] = [slotIn(1), slotIn(5)]
  const daily = await rows.event(inbox, { start: first, rule: 'FREQ=DAILY', title: 'series', location: 'series' })
  await rows.edit(daily, { slot: slotIn(2), mode: 'future', fields: { title: 'early', location: 'early' } })
  await rows.edit(daily, { slot: slotIn(3), mode: 'future', fields: { title: 'late' }, sequence: 3 })
  const changed = { description: 'own', duration_value: 60 * 60 * 1_000 }
  await rows.edit(daily, {
    slot,
    mode: 'single',
    fields: changed,
    revision: 2,
    updated_at: new Date('2026-05-05T00:00:00.000Z'),
  })
  expect(await get(inbox, datedId(daily.id, slot))).toMatchObject({
    event_id: datedId(daily.id, slot),
    kind: 'instance',
    is_exception: true,
    title: 'late',
    location: 'early',
    description: 'own',
    end: slot.replace('T09', 'T10'),
    sequence: 3,
    updated_at: '2026-05-05T00:00:00.000Z',
    etag: '"occ-0-0-2"',
  })
  expect(await get(inbox, datedId(daily.id, first))).toMatchObject({ is_exception: false, etag: '"occ-0-0-none"' })
})

it('shows a date that ran although its series does not make it any more, until a month after its end', async () => {
  const inbox = testInbox()
  const daily = await rows.event(inbox, { start: slotIn(1), rule: 'FREQ=DAILY' })
  await rows.begun(daily, { slot: slotIn(-20), state: 'ended' })
  await rows.begun(daily, { slot: slotIn(-40), state: 'ended' })
  expect(await get(inbox, datedId(daily.id, slotIn(-20)))).toMatchObject({ start: slotIn(-20), kind: 'instance' })
  await expect(get(inbox, datedId(daily.id, slotIn(-40)))).rejects.toMatchObject({ status: 410, code: 'event_expired' })
})

it('shows a deleted date as cancelled for a month', async () => {
  const inbox = testInbox()
  const slots = [slotIn(2), slotIn(3)] as const
  const daily = await rows.event(inbox, { start: slotIn(1), rule: 'FREQ=DAILY', exdates: [...slots] })
  const document = { event_id: datedId(daily.id, slots[0]), status: 'cancelled' }
  await rows.cancelled(daily, { slot: slots[0], document, cancelled_at: new Date(Date.now() - 29 * DAY) })
  await rows.cancelled(daily, { slot: slots[1], document, cancelled_at: new Date(Date.now() - 31 * DAY) })
  expect(await get(inbox, datedId(daily.id, slots[0]))).toEqual({ ...document, etag: '"occ-0-0-none"' })
  await expect(get(inbox, datedId(daily.id, slots[1]))).rejects.toMatchObject({ status: 410 })
})

it('shows the dates after the end of a series as cancelled, without what only full events have', async () => {
  const inbox = testInbox()
  const ended = { truncate_before: slotIn(3), truncated_at: new Date(Date.now() - DAY) }
  const daily = await rows.event(inbox, { start: slotIn(1), rule: 'FREQ=DAILY', description: 'text', ...ended })
  const date = await get(inbox, datedId(daily.id, slotIn(5)))
  expect(date).toMatchObject({ status: 'cancelled', start: slotIn(5), attendee_count: 0, etag: '"occ-0-0-none"' })
  expect(date).not.toHaveProperty('description')
  expect(date).not.toHaveProperty('attendees')
  expect(await get(inbox, datedId(daily.id, slotIn(2)))).toMatchObject({ status: 'confirmed' })
  await rows.set(daily, { truncated_at: new Date(Date.now() - 31 * DAY) })
  await expect(get(inbox, datedId(daily.id, slotIn(5)))).rejects.toMatchObject({ status: 410 })
})

it('finds nothing where the id is none, of another inbox, or of a time that the series never had', async () => {
  const inbox = testInbox()
  const daily = await rows.event(inbox, { start: slotIn(1), rule: 'FREQ=DAILY', exdates: [slotIn(2)] })
  const single = await rows.event(inbox, { start: slotIn(1) })
  const ids = [
    'nothing',
    randomUUID(),
    `${daily.id}_t20269999T000000`,
    `${daily.id}_d20261007`,
    datedId(daily.id, slotIn(2)),
    datedId(daily.id, slotIn(1).replace('T09', 'T10')),
    datedId(single.id, slotIn(1)),
  ]
  for (const id of ids) await expect(get(inbox, id)).rejects.toMatchObject(notFound)
  await expect(get(testInbox(), daily.id)).rejects.toMatchObject(notFound)
})
