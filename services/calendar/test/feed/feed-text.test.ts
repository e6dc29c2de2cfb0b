import ICAL from 'ical.js'
import { feedText } from '../../src/feed/feed-text.ts'
import { CalendarRows, DAY, type TestInbox, testInbox } from '../reading/rows.ts'

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

async function read(inbox: TestInbox) {
  let text = ''
  const feed = { inbox_uid: inbox.uid, organization_id: inbox.uid, address: inbox.address }
  for await (const part of feedText(rows.db, feed)) text += part
  const calendar = new ICAL.Component(ICAL.parse(text))
  const events = calendar.getAllSubcomponents('vevent')
  return { text, calendar, events, titles: events.map((event) => event.getFirstPropertyValue('summary')) }
}

const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 19)

it('writes an empty calendar as one', async () => {
  const { calendar, events, text } = await read(testInbox())
  expect(calendar.name).toBe('vcalendar')
  expect(events).toEqual([])
  expect(text.endsWith('END:VCALENDAR\r\n')).toBe(true)
})

it('writes more events than are in memory at a time, each once, in the order of their starts', async () => {
  const inbox = testInbox()
  const titles = Array.from({ length: 57 }, (_, index) => `event ${index}`)
  await rows.events(inbox, ...titles.map((title, index) => ({ title, start: inDays(1 + index) })).toReversed())
  expect((await read(inbox)).titles).toEqual(titles)
})

it('describes each zone once, from the first event in it on', async () => {
  const inbox = testInbox()
  const zones = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo']
  const events = Array.from({ length: 45 }, (_, index) => ({
    start: inDays(1 + index),
    timezone: zones[index % 3] ?? 'UTC',
  }))
  await rows.events(inbox, ...events)
  const { calendar } = await read(inbox)
  const described = calendar.getAllSubcomponents('vtimezone').map((zone) => zone.getFirstPropertyValue('tzid'))
  expect(described.toSorted()).toEqual(zones.toSorted())
})

it('writes the dates that differ from their series, and leaves out what is cancelled or long over', async () => {
  const inbox = testInbox()
  const [daily] = await rows.events(
    inbox,
    { start: '2026-10-01T09:00:00', title: 'daily', rule: 'FREQ=DAILY' },
    { start: inDays(2), title: 'cancelled', status: 'cancelled' },
    { start: inDays(-800), title: 'long over' },
    { start: inDays(-300), title: 'over' },
    { start: inDays(-800), title: 'ended series', rule: 'FREQ=DAILY;COUNT=3' },
  )
  if (!daily) throw new Error('stored above')
  await rows.edit(daily, { slot: '2026-10-03T09:00:00', mode: 'single', fields: { title: 'edited' } })
  const { titles, events } = await read(inbox)
  expect(titles.toSorted()).toEqual(['daily', 'edited', 'over'])
  const edited = events.find((event) => event.getFirstPropertyValue('summary') === 'edited')
  expect(edited?.getFirstPropertyValue('recurrence-id')?.toString()).toBe('2026-10-03T09:00:00Z')
})
