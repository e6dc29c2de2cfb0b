import { waitFor } from '@restante/testkit'
import { type Answer, type CalendarFixture, type CallOptions, startCalendar } from '../support/fixture.ts'
import type { TestInbox } from '../support/tenant.ts'

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

function agenda(inbox: TestInbox, days = 28): Promise<Answer> {
  const after = '2030-01-01T00:00:00Z'
  const before = new Date(Date.parse(after) + days * 86_400_000).toISOString()
  return calendar.call('calendarEvents.agenda', inbox, { query: { after, before } })
}

/** A time of UTC as a wall time, so many seconds from now. */
function soon(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19)
}

it('changes only what is sent, and tells the earlier values', async () => {
  const { inbox, id } = await eventOf({ ...meeting, location: 'Room 1', description: 'All of it' })
  const { body, headers } = await patch(inbox, id, { title: 'Renamed', description: null })
  expect(body.event).toMatchObject({ title: 'Renamed', location: 'Room 1', sequence: 1, resource_revision: 1 })
  expect(body.event).not.toHaveProperty('description')
  expect(headers.get('etag')).toBe('"rv-1"')
  const told = await waitFor(() => calendar.publicEvents(inbox)[1], { what: 'the event' })
  expect(told).toMatchObject({
    event_type: 'calendar.event.updated',
    event_id: body.operation_id,
    previous: { title: 'Meeting', description: 'All of it' },
  })
})

it('leaves the revision and tells nothing when the values are those it has', async () => {
  const { inbox, id } = await eventOf(meeting)
  const { status, body } = await patch(inbox, id, { title: 'Meeting', start: meeting.start, end: meeting.end })
  expect([status, body.event?.resource_revision]).toEqual([200, 0])
})

it('keeps the sequence when only metadata changes', async () => {
  const { inbox, id } = await eventOf(meeting)
  const { body } = await patch(inbox, id, { metadata: { a: [1] } })
  expect(body.event).toMatchObject({ sequence: 0, resource_revision: 1, metadata: { a: [1] } })
})

it('moves the instants and not the wall times with the zone', async () => {
  const { inbox, id } = await eventOf(meeting)
  const { body } = await patch(inbox, id, { timezone: 'America/New_York' })
  expect(body.event).toMatchObject({ start: meeting.start, end: meeting.end, start_at: '2030-01-07T14:00:00Z' })
})

it.each([
  ['an empty object', {}, []],
  ['a start without an end', { start: meeting.start }, ['end']],
  ['null for the title', { title: null }, ['title']],
  ['whole days without their zone', { all_day: true, start: '2030-01-07', end: '2030-01-07' }, ['timezone']],
])('refuses %s', async (_, body, path) => {
  const { inbox, id } = await eventOf(meeting)
  const answer = await patch(inbox, id, body)
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ errors: [{ path }] })
})

it('refuses a mode for an event, and an unknown one for a date', async () => {
  const { inbox, id, date } = await eventOf(weekly)
  const modes = [
    await patch(inbox, id, { title: 'A' }, { query: { mode: 'single' } }),
    await patch(inbox, date('2030-01-14T09:00:00'), { title: 'A' }, { query: { mode: 'all' } }),
  ]
  expect(modes.map(({ status, body }) => [status, body.errors?.[0]?.path])).toEqual([
    [400, ['mode']],
    [400, ['mode']],
  ])
})

it('binds a change to the etag that its caller has seen', async () => {
  const { inbox, id } = await eventOf(meeting)
  const match = (tag: string) => patch(inbox, id, { title: `Now ${tag}` }, { headers: { 'if-match': tag } })
  expect((await match('W/"rv-0"')).status).toBe(200)
  const stale = await match('"rv-0"')
  expect([stale.status, stale.body.code, stale.body['current_revision']]).toEqual([412, 'precondition_failed', 1])
  expect((await match('*')).status).toBe(200)
  expect((await match('rv-2')).status).toBe(400)
})

it('lets one of many writers with the same etag through', async () => {
  const { inbox, id } = await eventOf(meeting)
  const writers = Array.from({ length: 6 }, (_, index) =>
    patch(inbox, id, { title: `Writer ${index}` }, { headers: { 'if-match': '"rv-0"' } }),
  )
  const statuses = (await Promise.all(writers)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, 412, 412, 412, 412, 412])
})

it.each([
  ['a start without an end', { start: meeting.start }],
  ['an end before its start', { start: meeting.end, end: meeting.start }],
  ['a day for a time', { start: '2030-01-07', end: '2030-01-07', all_day: false }],
  ['a day that does not exist', { start: '2030-02-30', end: '2030-02-30' }],
  ['a zone that does not exist', { timezone: 'Europe/Atlantis' }],
])('refuses %s before it looks for the event, and at its etag', async (_, body) => {
  const { inbox, id } = await eventOf(meeting)
  const stale = await patch(inbox, id, body, { headers: { 'if-match': '"rv-7"' } })
  const unknown = await patch(inbox, id.replaceAll(/[0-9]/g, '0'), body)
  expect([stale.status, unknown.status]).toEqual([400, 400])
})

describe('a date of a series', () => {
  it('follows the length of its series when only the mode of that was changed', async () => {
    const { inbox, id, date } = await eventOf(weekly)
    const slot = date('2030-01-14T09:00:00')
    await patch(inbox, slot, { duration_mode: 'exact' }, { query: { mode: 'future' } })
    await patch(inbox, id, { start: meeting.start, end: '2030-01-07T11:00:00' })
    expect((await get(inbox, slot)).body).toMatchObject({ duration_mode: 'exact', duration_value: 7_200_000 })
  })

  it('is edited alone, with the same id after it was moved', async () => {
    const { inbox, date } = await eventOf(weekly)
    const id = date('2030-01-14T09:00:00')
    const fields = { start: '2030-01-15T11:00:00', end: '2030-01-15T11:30:00', title: 'Moved' }
    const { body } = await patch(inbox, id, fields)
    expect(body.event).toMatchObject({
      event_id: id,
      kind: 'instance',
      original_start: '2030-01-14T09:00:00',
      is_exception: true,
      ...fields,
    })
    const [first, second] = await waitFor(
      () => (calendar.publicEvents(inbox).length === 2 ? calendar.publicEvents(inbox) : undefined),
      { what: 'both events' },
    )
    expect([first?.['event_type'], second?.['event_type']]).toEqual([
      'calendar.event.created',
      'calendar.event.created',
    ])
    const starts = (await agenda(inbox)).body.events?.map(({ start, title }) => `${start} ${title}`)
    expect(starts).toEqual([
      '2030-01-07T09:00:00 Meeting',
      '2030-01-15T11:00:00 Moved',
      '2030-01-21T09:00:00 Meeting',
      '2030-01-28T09:00:00 Meeting',
    ])
  })

  it('follows the series in what was not edited, and later edits in what was', async () => {
    const { inbox, id, date } = await eventOf(weekly)
    await patch(inbox, date('2030-01-14T09:00:00'), { title: 'Later' }, { query: { mode: 'future' } })
    await patch(inbox, date('2030-01-21T09:00:00'), { location: 'Room 2' })
    await patch(inbox, id, { title: 'Renamed', location: 'Room 1' })
    const shown = (await agenda(inbox)).body.events?.map(({ title, location }) => `${title} ${location}`)
    expect(shown).toEqual(['Renamed Room 1', 'Later Room 1', 'Later Room 2', 'Later Room 1'])
  })

  it('gets another etag with every change of the series or of another date', async () => {
    const { inbox, id, date } = await eventOf(weekly)
    const first = date('2030-01-14T09:00:00')
    const tags = [(await get(inbox, first)).body['etag']]
    await patch(inbox, date('2030-01-21T09:00:00'), { title: 'Other' })
    tags.push((await get(inbox, first)).body['etag'])
    expect((await get(inbox, id)).body['etag']).toBe('"rv-0"')
    await patch(inbox, id, { title: 'Series' })
    tags.push((await get(inbox, first)).body['etag'])
    expect(new Set(tags).size).toBe(3)
  })

  it('has one edit, of the mode it was edited with first', async () => {
    const { inbox, date } = await eventOf(weekly)
    const id = date('2030-01-14T09:00:00')
    await patch(inbox, id, { title: 'One' })
    const { status, body } = await patch(inbox, id, { title: 'All' }, { query: { mode: 'future' } })
    expect([status, body.code]).toEqual([409, 'event_in_progress'])
  })

  it('cannot be moved with all later ones', async () => {
    const { inbox, date } = await eventOf(weekly)
    const moved = { start: '2030-01-14T10:00:00', end: '2030-01-14T11:00:00' }
    const { status, body } = await patch(inbox, date('2030-01-14T09:00:00'), moved, { query: { mode: 'future' } })
    expect([status, body.code]).toEqual([409, 'future_edit_start_move_not_supported'])
  })

  it('has no zone and no rule of its own', async () => {
    const { inbox, date } = await eventOf(weekly)
    const { status } = await patch(inbox, date('2030-01-14T09:00:00'), { timezone: 'UTC' })
    expect(status).toBe(400)
  })

  it('moves with its edit when the series moves', async () => {
    const { inbox, id, date } = await eventOf(weekly)
    await patch(inbox, date('2030-01-14T09:00:00'), { title: 'Edited' })
    const moved = { start: '2030-01-07T08:00:00', end: '2030-01-07T09:00:00' }
    await patch(inbox, id, moved)
    expect((await get(inbox, date('2030-01-14T09:00:00'))).status).toBe(404)
    expect((await get(inbox, date('2030-01-14T08:00:00'))).body).toMatchObject({ title: 'Edited' })
  })

  it('loses its edit with a rule that does not make it any more', async () => {
    const { inbox, id, date } = await eventOf(weekly)
    await patch(inbox, date('2030-01-14T09:00:00'), { title: 'Edited' })
    await patch(inbox, id, { recurrence: { rule: 'FREQ=WEEKLY;INTERVAL=2' } })
    await patch(inbox, id, { recurrence: { rule: 'FREQ=WEEKLY' } })
    expect((await get(inbox, date('2030-01-14T09:00:00'))).body).toMatchObject({ title: 'Meeting' })
  })

  it('keeps a series with edited dates from becoming a one-off', async () => {
    const { inbox, id, date } = await eventOf(weekly)
    await patch(inbox, date('2030-01-14T09:00:00'), { title: 'Edited' })
    const { status, body } = await patch(inbox, id, { recurrence: null })
    expect([status, body.code]).toEqual([409, 'event_in_progress'])
  })
})

it('turns a series into a one-off and back', async () => {
  const { inbox, id } = await eventOf(weekly)
  expect((await patch(inbox, id, { recurrence: null })).body.event).toMatchObject({ kind: 'single' })
  const { body } = await patch(inbox, id, { recurrence: weekly.recurrence })
  expect(body.event).toMatchObject({ kind: 'series', duration_mode: 'nominal' })
})

describe('a running event', () => {
  it('may end later, and not start at another time', async () => {
    const [start, end] = [soon(-600), soon(600)]
    const { inbox, id } = await eventOf({ title: 'Now', start, end })
    const types = () => calendar.publicEvents(inbox).map((event) => event['event_type'])
    await waitFor(() => types().includes('calendar.event.starting'), { what: 'the start' })
    expect((await patch(inbox, id, { start, end: soon(1_200) })).status).toBe(200)
    const refused = [
      await patch(inbox, id, { start: soon(60), end: soon(1_200) }),
      await patch(inbox, id, { start, end: soon(-60) }),
      await patch(inbox, id, { recurrence: { rule: 'FREQ=WEEKLY' } }),
    ]
    expect(refused.map(({ body }) => body.code)).toEqual(Array.from(refused, () => 'event_already_started'))
    expect((await patch(inbox, id, { start, end: soon(2) })).status).toBe(200)
    await waitFor(() => types().includes('calendar.event.ending'), { what: 'the end' })
    expect((await patch(inbox, id, { title: 'Over' })).status).toBe(200)
    expect((await patch(inbox, id, { status: 'cancelled' })).body.code).toBe('event_already_started')
  })
})

it('mails a change to all attendees, and those who are no longer invited its cancellation', async () => {
  const attendees = [{ email: 'ann@example.com' }, { email: 'bob@example.com' }]
  const { inbox, id } = await eventOf({ ...meeting, attendees, send_invites: true })
  const { body } = await patch(inbox, id, { attendees: attendees.slice(1), send_invites: true })
  expect(calendar.peers.charged.get(body.operation_id ?? '')).toEqual(['bob@example.com'])
  const mine = () => calendar.peers.sent.filter(({ inbox_uid }) => inbox_uid === inbox.inbox_uid)
  const sent = await waitFor(() => (mine().length === 4 ? mine() : undefined), { what: 'four mails' })
  expect(sent.map(({ to, method, subject }) => `${to} ${method} ${subject}`).sort()).toEqual([
    'ann@example.com CANCEL Canceled: Meeting',
    'ann@example.com REQUEST Invitation: Meeting',
    'bob@example.com REQUEST Invitation: Meeting',
    'bob@example.com REQUEST Updated invitation: Meeting',
  ])
})

it('announces an event again without changing it', async () => {
  const { inbox, id } = await eventOf({ ...meeting, attendees: [{ email: 'ann@example.com' }] })
  const { body } = await patch(inbox, id, { send_invites: true })
  expect(body.event).toMatchObject({ resource_revision: 0, sequence: 0 })
  await waitFor(() => calendar.peers.sent.find(({ inbox_uid }) => inbox_uid === inbox.inbox_uid), { what: 'the mail' })
})
