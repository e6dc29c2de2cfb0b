import { Cursors } from '@restante/service/http'
import { datedId } from '../../../src/model/dated-id.ts'
import { listStoredEvents } from '../../../src/reading/stored-events.ts'
import { CalendarRows, testInbox } from '../rows.ts'

const cursors = new Cursors('the secret of the page tokens')

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const updated = (day: number) => ({ updated_at: new Date(Date.UTC(2026, 0, day)) })

it('lists events and individually edited dates, the last changed first, page by page', async () => {
  const inbox = testInbox()
  const [daily, single, cancelled] = await rows.events(
    inbox,
    { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY', ...updated(3) },
    { start: '2026-10-07T09:00:00', description: 'text', ...updated(5) },
    { start: '2026-10-07', all_day: true, status: 'cancelled', ...updated(5) },
  )
  if (!daily || !single || !cancelled) throw new Error('stored above')
  const [first, second] = ['2026-10-02T09:00:00', '2026-10-03T09:00:00'] as const
  await rows.edit(daily, { slot: first, mode: 'single', fields: { title: 'edited' }, ...updated(5) })
  await rows.edit(daily, { slot: second, mode: 'single', fields: { status: 'cancelled' }, ...updated(4) })
  await rows.edit(daily, { slot: '2026-10-04T09:00:00', mode: 'future', fields: { title: 'future' }, ...updated(9) })
  const latest = [single.id, cancelled.id, datedId(daily.id, first)].toSorted().toReversed()
  const all = await listStoredEvents({ db: rows.db, cursors }, inbox, {})
  expect(all).toMatchObject({ count: 5, limit: 50 })
  expect(all.events.map(({ event_id }) => event_id)).toEqual([...latest, datedId(daily.id, second), daily.id])
  expect(all.events.find(({ event_id }) => event_id === single.id)).toMatchObject({
    description: 'text',
    attendees: [],
  })
  expect(all.events.find(({ kind }) => kind === 'instance')).toMatchObject({ is_exception: true, series_id: daily.id })
  for (const event of all.events) expect(event).not.toHaveProperty('etag')

  const walked = []
  let token: string | undefined
  do {
    const page = await listStoredEvents({ db: rows.db, cursors }, inbox, { limit: 2, page_token: token })
    walked.push(...page.events)
    token = page.next_page_token
  } while (token !== undefined)
  expect(walked).toEqual(all.events)
})

it('lists nothing of other inboxes', async () => {
  await rows.event(testInbox(), { start: '2026-10-07T09:00:00' })
  expect(await listStoredEvents({ db: rows.db, cursors }, testInbox(), {})).toMatchObject({ count: 0, events: [] })
})
