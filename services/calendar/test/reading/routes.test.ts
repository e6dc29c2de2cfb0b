import { randomUUID } from 'node:crypto'
import { type CalendarFixture, startCalendar } from '../support/fixture.ts'
import type { TestInbox } from '../support/tenant.ts'
import { eventRow, insertRows } from './rows.ts'

const october = { after: '2026-10-05T00:00:00Z', before: '2026-10-12T00:00:00Z' }

let calendars: CalendarFixture
beforeAll(async () => {
  calendars = await startCalendar()
})
afterAll(() => calendars.stop())

async function store(inbox: TestInbox, ...given: Parameters<typeof eventRow>[1][]) {
  const rows = given.map((fields) => eventRow({ uid: inbox.inbox_uid, address: inbox.address }, fields))
  await insertRows(calendars.db, 'events', rows)
  return rows
}

it('answers every list, and the agenda under its older name too', async () => {
  const inbox = calendars.inbox()
  const [daily] = await store(inbox, { start: '2026-10-01T09:00:00', rule: 'FREQ=DAILY' })
  const params = { event_id: daily?.id ?? '' }
  const agenda = await calendars.call('calendarEvents.agenda', inbox, { query: october })
  expect(agenda).toMatchObject({ status: 200, body: { count: 7, limit: 50 } })
  const expanded = await calendars.call('calendarEvents.list', inbox, { query: { ...october, expand: 'true' } })
  expect(expanded.body).toEqual(agenda.body)
  const instances = await calendars.call('calendarEvents.listInstances', inbox, { params, query: october })
  expect(instances.body).toEqual(agenda.body)
  const stored = await calendars.call('calendarEvents.list', inbox, { query: { consistency: 'anything' } })
  expect(stored).toMatchObject({ status: 200, body: { count: 1, limit: 50, events: [{ kind: 'series' }] } })
  const event = await calendars.call('calendarEvents.get', inbox, { params })
  expect(event).toMatchObject({ status: 200, body: { event_id: daily?.id, etag: '"rv-0"' } })
  expect(event.headers.get('etag')).toBe('"rv-0"')
})

it('serves a limit above 100 with 100, and refuses one below 1', async () => {
  const inbox = calendars.inbox()
  await store(inbox, { start: '2026-01-01T09:00:00', rule: 'FREQ=DAILY' })
  const window = { after: '2026-01-01T00:00:00Z', before: '2026-12-01T00:00:00Z' }
  for (const operation of ['calendarEvents.agenda', 'calendarEvents.list'] as const) {
    const most = await calendars.call(operation, inbox, { query: { ...window, limit: '1000' } })
    expect(most).toMatchObject({ status: 200, body: { limit: 100 } })
    expect((await calendars.call(operation, inbox, { query: { ...window, limit: '0' } })).status).toBe(400)
  }
})

it('tells when one inbox is busy, within the window that it names', async () => {
  const inbox = calendars.inbox()
  await store(inbox, { start: '2026-10-06T09:00:00', duration_value: 3_600_000 })
  const { status, body } = await calendars.call('calendars.freeBusy', inbox, { query: october })
  expect(status).toBe(200)
  expect(body).toEqual({
    inbox_id: inbox.address,
    after: '2026-10-05T00:00:00.000Z',
    before: '2026-10-12T00:00:00.000Z',
    busy: [{ start_at: '2026-10-06T09:00:00Z', end_at: '2026-10-06T10:00:00Z', status: 'busy' }],
  })
})

it('compares inboxes in the order of the request, whatever the letters of their addresses', async () => {
  const organization = randomUUID()
  const [first, second] = [calendars.inbox(organization), calendars.inbox(organization)]
  await store(first, { start: '2026-10-06T09:00:00', duration_value: 3_600_000, status: 'tentative' })
  const compare = (...inbox_ids: string[]) =>
    calendars.call('calendars.compareFreeBusy', first, {
      body: { inbox_ids, ...october },
      caller: { inbox: undefined, pod_id: undefined },
    })
  const { status, body } = await compare(second.address, first.address.toUpperCase(), second.address)
  expect(status).toBe(200)
  const busy = [{ start_at: '2026-10-06T09:00:00Z', end_at: '2026-10-06T10:00:00Z', status: 'tentative' }]
  expect(body['inboxes']).toEqual([
    { inbox_id: second.address, busy: [] },
    { inbox_id: first.address, busy },
    { inbox_id: second.address, busy: [] },
  ])
  const other = await compare(first.address, calendars.inbox().address)
  expect(other).toMatchObject({ status: 404, body: { message: 'Inbox not found' } })
  expect(other.text).not.toContain('busy')
  const many = await compare(...Array.from({ length: 21 }, () => first.address))
  expect(many).toMatchObject({ status: 400, body: { errors: [{ path: ['inbox_ids'] }] } })
})

it('refuses a window that is too wide with a code of its own, wherever there is one', async () => {
  const inbox = calendars.inbox()
  const query = { after: '2026-01-01T00:00:00Z', before: '2027-01-03T00:00:00Z' }
  for (const operation of ['calendarEvents.agenda', 'calendars.freeBusy'] as const) {
    expect(await calendars.call(operation, inbox, { query })).toMatchObject({
      status: 400,
      body: { code: 'query_range_too_wide', name: 'QueryRangeTooWideError' },
    })
  }
})

it('shows what requests have made: a series, a moved date, a cancelled one', async () => {
  const inbox = calendars.inbox()
  const body = {
    title: 'Standup',
    start: '2099-10-05T09:00:00',
    end: '2099-10-05T09:15:00',
    recurrence: { rule: 'FREQ=DAILY' },
  }
  const created = await calendars.call('calendarEvents.create', inbox, { body })
  expect(created.status).toBe(201)
  const id = created.body.event?.event_id ?? ''
  const date = (day: string) => ({ params: { event_id: `${id}_t209910${day}T090000` } })
  const moved = { start: '2099-10-06T12:00:00', end: '2099-10-06T12:30:00' }
  expect((await calendars.call('calendarEvents.update', inbox, { ...date('06'), body: moved })).status).toBe(200)
  expect((await calendars.call('calendarEvents.delete', inbox, date('07'))).status).toBe(202)
  const query = { after: '2099-10-05T00:00:00Z', before: '2099-10-09T00:00:00Z' }
  const { body: agenda } = await calendars.call('calendarEvents.agenda', inbox, { query })
  expect(agenda.events?.map(({ start, is_exception }) => `${start} ${is_exception}`)).toEqual([
    '2099-10-05T09:00:00 false',
    '2099-10-06T12:00:00 true',
    '2099-10-08T09:00:00 false',
  ])
  const gone = await calendars.call('calendarEvents.get', inbox, date('07'))
  expect(gone).toMatchObject({ status: 200, body: { status: 'cancelled', kind: 'instance' } })
  expect(gone.headers.get('etag')).toBe(gone.body['etag'])
  expect(await calendars.call('calendars.get', inbox)).toMatchObject({ body: { event_count: 1, etag: '"rv-0"' } })
})
