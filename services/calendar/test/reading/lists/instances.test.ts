import { randomUUID } from 'node:crypto'
import { Cursors } from '@restante/service/http'
import { datedId } from '../../../src/model/dated-id.ts'
import type { DatesQuery } from '../../../src/reading/lists/dates-page.ts'
import { listInstances } from '../../../src/reading/lists/instances.ts'
import { CalendarRows, type TestInbox, testInbox } from '../rows.ts'

const cursors = new Cursors('the secret of the page tokens')
const october = { after: new Date('2026-10-05T00:00:00Z'), before: new Date('2026-10-12T00:00:00Z') }

let rows: CalendarRows
beforeAll(async () => {
  rows = await CalendarRows.create()
})
afterAll(() => rows.stop())

const instances = (inbox: TestInbox, id: string, query: DatesQuery = october) =>
  listInstances({ db: rows.db, cursors }, inbox, id, query)

it('shows the dates of one series, page by page, without cancelled ones', async () => {
  const inbox = testInbox()
  const daily = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY' })
  await rows.event(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY' })
  await rows.edit(daily, { slot: '2026-10-06T09:00:00', mode: 'single', fields: { status: 'cancelled' } })
  const first = await instances(inbox, daily.id, { ...october, limit: 4 })
  const second = await instances(inbox, daily.id, { ...october, limit: 4, page_token: first.next_page_token })
  expect(second.next_page_token).toBeUndefined()
  expect([...first.events, ...second.events].map(({ event_id }) => event_id)).toEqual(
    ['05', '07', '08', '09', '10', '11'].map((day) => datedId(daily.id, `2026-10-${day}T09:00:00`)),
  )
})

it('shows no date of a cancelled series', async () => {
  const inbox = testInbox()
  const daily = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY', status: 'cancelled' })
  expect(await instances(inbox, daily.id)).toMatchObject({ count: 0, limit: 50, events: [] })
})

it('refuses a token after a change of the series or of one of its dates', async () => {
  const inbox = testInbox()
  const daily = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY' })
  const { next_page_token: page_token } = await instances(inbox, daily.id, { ...october, limit: 1 })
  const next = () => instances(inbox, daily.id, { ...october, limit: 1, page_token })
  expect((await next()).count).toBe(1)
  await rows.set(daily, { edits_revision: 1 })
  await expect(next()).rejects.toMatchObject({ status: 409, code: 'page_token_stale' })
  await rows.set(daily, { edits_revision: 0, revision: 1 })
  await expect(next()).rejects.toMatchObject({ status: 409, code: 'page_token_stale' })
})

it('names the id that is no series, and hides what belongs to others or is none', async () => {
  const inbox = testInbox()
  const single = await rows.event(inbox, { start: '2026-10-07T09:00:00' })
  const daily = await rows.event(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY' })
  for (const id of [single.id, datedId(daily.id, '2026-10-07T09:00:00')]) {
    await expect(instances(inbox, id)).rejects.toMatchObject({
      status: 400,
      options: { errors: [{ path: ['event_id'] }] },
    })
  }
  for (const id of [randomUUID(), 'nothing']) {
    await expect(instances(inbox, id)).rejects.toMatchObject({ status: 404, message: 'Event not found' })
  }
  await expect(instances(testInbox(), daily.id)).rejects.toMatchObject({ status: 404 })
})
